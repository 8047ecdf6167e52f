// Loaded before the program: takes memory from the pool that all small Buffers of a process share, all the time. Exits
// with 99 if somebody else has written into it.
Buffer.poolSize = 65_536; // Its size on Node 24 and later, and that of the program's reads for a pipe.
const texts = [];
setInterval(() => {
  for (let count = 0; count < 20; count += 1) texts.push(Buffer.from(`text ${texts.length} of somebody else`));
}, 1).unref();
process.on('exit', () => {
  if (texts.some((text, at) => `${text}` !== `text ${at} of somebody else`)) process.exitCode = 99;
});
