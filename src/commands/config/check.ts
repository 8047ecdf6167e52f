// Requests one listing as `list` does, with the same errors, and shows what the settings made of it.
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import { describeClockSkew } from '../../service/clock-skew.ts';
import type { Credentials } from '../../service/credentials.ts';
import type { Listing } from '../../service/listing.ts';
import { writeRecords } from '../../session/presentation.ts';
import { openSession, requestListing } from '../../session/session.ts';
import type { Invocation } from '../../spec/command.ts';
import type { World } from '../../world.ts';

/** No filing has this number, so a 404 is the expected response. */
const NO_FILING = '0000000000-00-000000' as AccessionNumber;
const NO_RECORDS: Listing = { files: [], recordCount: 0, pageCount: 0 };

export async function run({ args: [text], flags }: Invocation, world: World): Promise<number> {
  const accession = text === undefined ? NO_FILING : parseAccession(text);
  // Somebody waits for the verdict, so only --retries makes it retry.
  const session = await openSession({ ...flags, retries: flags.retries ?? '0' }, world);
  const { client, progress } = session;
  try {
    const listing = await requestListing(session, accession, [], world.interrupt).catch((error) => {
      if (text === undefined && error.problem?.status === 404) return NO_RECORDS;
      throw error;
    });
    const provesLittle = text === undefined && listing.recordCount === 0;
    // Without ACCESSION, an empty listing is expected. If there are records but no files, the service may have ignored
    // the accession number.
    if (listing.files.length === 0 && !provesLittle) throw client.noFilesError(accession, listing);
    const { baseUrl, credentials } = client;
    // If a token is sent, `describeClockSkew` tolerates less.
    const aheadMs = client.requester.clockAheadMs;
    const clock =
      aheadMs === undefined ? 'unknown: the service sends no date' : describeClockSkew(aheadMs, credentials.sendsToken);
    const rows = [
      ['address', baseUrl.href],
      ['key', describeKeyPlacement(credentials)],
      ['token', credentials.sendsToken ? 'in Authorization: Bearer' : 'none'],
      ['source', credentials.setBy],
      ['clock', clock ?? 'ok'],
      ['records', `${listing.recordCount}`],
      ['files', `${listing.files.length}`],
      ['pages', `${listing.pageCount}`],
    ];
    await writeRecords(['CHECKED', 'RESULT'], rows, flags, world);
    if (provesLittle)
      progress.note(
        'hint: this proves only that a server responds: run it again with the accession number of a filing that exists',
      );
    return 0;
  } finally {
    await session.close();
  }
}

function describeKeyPlacement({ keyIn, keyHeader, basicUser }: Credentials): string {
  return {
    authorization: 'in the Authorization header',
    header: `in the header ${keyHeader}`,
    query: 'in the query, as apikey',
    path: 'at the end of the path',
    basic: `by Basic authentication, as the user ${basicUser}`,
  }[keyIn];
}
