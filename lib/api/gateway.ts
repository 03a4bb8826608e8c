import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Hono } from 'hono';

/**
 * Serves the API behind API Gateway (payload format 2.0), and behind the local server, which speaks the same. Whatever
 * comes, the API itself answers it: no request is so odd that something before it would refuse it in other words.
 */
export const gatewayHandler =
  (api: Hono) =>
  async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
    const response = await api.fetch(requestOf(event));
    return {
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
      isBase64Encoded: false,
    };
  };

function requestOf({ rawPath, rawQueryString, requestContext, headers, body, isBase64Encoded }: APIGatewayProxyEventV2): Request {
  const { method } = requestContext.http;
  // The host plays no part in what is answered, so a forged one can't either.
  const url = `http://redress${rawPath.startsWith('/') ? '' : '/'}${encoded(rawPath)}${rawQueryString ? `?${rawQueryString}` : ''}`;
  const bytes = body === undefined || bodiless.has(method) ? null : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  // A Request can't be made with these methods; the API knows none of them, whatever their names.
  return new Request(url, { method: unsayable.has(method.toUpperCase()) ? 'UNKNOWN' : method, headers: headersOf(headers), body: bytes });
}

/**
 * The gateway hands the path on decoded, but not the query. Encoded again, no `#` ends it and no `\` parts it. What URLs
 * drop together with the segment before it is encoded twice: it stays, and names nothing here.
 */
const encoded = (path: string): string =>
  path
    .toWellFormed()
    .split('/')
    .map((segment) => (/^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%252E') : encodeURIComponent(segment)))
    .join('/');

const bodiless = new Set(['GET', 'HEAD']);
const unsayable = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** The gateway decodes header values as UTF-8; a Headers object takes bytes. Neither may turn one character into another. */
function headersOf(given: APIGatewayProxyEventV2['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, /[^\0-\xff]/.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value);
  }
  return headers;
}
