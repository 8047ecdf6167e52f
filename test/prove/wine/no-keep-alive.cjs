// Wine 8 does not know TCP_KEEPALIVE, without which Node ends every connection.
require('node:net').Socket.prototype.setKeepAlive = function () {
  return this;
};
