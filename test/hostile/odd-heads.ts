/** Longer than a head may be. */
export const LONG = 'y'.repeat(17_000);

/** Status lines other than the usual one, valid and invalid. */
export const STARTS =
  `HTTP/1.0 200 OK|HTTP/1.1 200|HTTP/1.1 200 |HTTP/1.1 200 \xe4\xf6|HTTP/1.1 200 OK |HTTP/1.1 200\tOK|\
HTTP/1.1  200 OK|HTTP/1.1\t200 OK|HTTP/1.1 0200 OK|HTTP/1.1 2000 OK|HTTP/1.1 20 OK|HTTP/1.1 20x OK|\
HTTP/1.1 OK|HTTP/1.1|HTTP/1.2 200 OK|HTTP/1.10 200 OK|HTTP/2 200 OK|HTTP/2.0 200 OK|HTTP/3 200 OK|\
HTTP/0.9 200 OK|HTTP/1 200 OK|HTTP/11 200 OK|http/1.1 200 OK|RTSP/1.0 200 OK|ICY 200 OK|HTTP 200 OK|\
 HTTP/1.1 200 OK|\r\nHTTP/1.1 200 OK|\nHTTP/1.1 200 OK|\x00HTTP/1.1 200 OK|xHTTP/1.1 200 OK|<html>|\
HTTP/1.1 200 O\x00K|HTTP/1.1 200 O\rK|HTTP/1.1 200 OK\r|HTTP/1.1 200 ${LONG}|HTTP/1.1 099 OK|HTTP/1.1 000 OK|\
HTTP/1.1 201 Made|HTTP/1.1 202 Yes|HTTP/1.1 203 Other|HTTP/1.1 204 Nothing|HTTP/1.1 205 Reset|\
HTTP/1.1 299 Odd|HTTP/1.1 206 Partial|HTTP/1.1 206 Partial|HTTP/1.1 101 Switch|HTTP/1.1 100 Continue|\
HTTP/1.1 199 Odd|HTTP/1.1 300 Many|HTTP/1.1 301 Moved|HTTP/1.1 302 Found|HTTP/1.1 302 Found|HTTP/1.1 303 See|\
HTTP/1.1 304 Same|HTTP/1.1 305 Proxy|HTTP/1.1 306 Odd|HTTP/1.1 307 Moved|HTTP/1.1 308 Moved|HTTP/1.1 399 Odd|\
HTTP/1.1 400 Bad|HTTP/1.1 401 Who|HTTP/1.1 403 No|HTTP/1.1 404 None|HTTP/1.1 407 Proxy|HTTP/1.1 410 Gone|\
HTTP/1.1 416 Range|HTTP/1.1 429 Slow|HTTP/1.1 500 Oh|HTTP/1.1 503 Later|HTTP/1.1 600 Odd|HTTP/1.1 999 Odd`.split('|');

/** Fields that are valid by themselves. */
export const SOUND_FIELDS =
  `Connection: close|Connection: keep-alive|Connection: Close, x|Keep-Alive: timeout=1|Proxy-Connection: close|\
ETag: "v1"|ETag: W/"v1"|ETag: v1|ETag: ""|Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT|Last-Modified: never|\
Date: Tue, 02 Jan 2024 00:00:00 GMT|Date: 0|Accept-Ranges: bytes|Accept-Ranges: none|Trailer: X-Sum|\
Content-Range: bytes 0-4/5|Content-Range: bytes 0-4/*|Content-Range: bytes 5-9/10|Content-Range: bytes */5|\
Content-Range: x|Content-Type: text/html|Content-Type: application/json|\
Content-Type: multipart/byteranges; boundary=x|Content-Encoding: identity|Content-Encoding:|Retry-After: 0|\
Retry-After: 9999|Set-Cookie: a=b|Upgrade: h2c|Location: {self}|Location: {self}|Location: {self}#x|\
Content-Disposition: attachment; filename="../x"|Vary: *|X:|X:y|X: y \t `.split('|');
/** Lines that are not fields, and fields that no response to a download should have. */
export const ODD_FIELDS =
  `Content-Encoding: gzip|Content-Encoding: br|Content-Encoding: identity, gzip|Content-Encoding: x|\
Content-Type: application/problem+json|Location:|Location: http://[|Location: ftp://127.0.0.1/|Location: //|\
X: y\r\n folded|X: y\r\n\tfolded| X: y|\tX: y|X: y\r\n |X : y|X\t: y|X y: z|: y|nonsense|:|X|X: \x00|\
X\x00: y|X: \x01|X: \x7f|X: \x0b|X: \xff|\xff: y|X: a\rb|X: a\nY: b|X: a\n|X(: y|X": y|X@: y|X: ${LONG}|\
${LONG}: y|X: ${'y'.repeat(110_000)}|Content-Length : 3|Content-Length\t: 3|Content_Length: 3|\
Content-Length:\r\n 3|Transfer-Encoding:\r\n chunked|Transfer-Encoding : chunked|Transfer_Encoding: chunked|\
HTTP/1.1 200 OK|content-length: 3|CONTENT-LENGTH: 5|transfer-encoding: chunked|Content-Length: 3\n|\
TE: chunked`.split('|');
