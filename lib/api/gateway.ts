import type { APIGatewayProxyEvent, APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Hono } from 'hono';

/**
 * Serves the API behind API Gateway (an HTTP API with payload format 2.0, or a REST API) and behind the local server, which uses the
 * format 2.0. The API answers every request itself, however malformed, so that every refusal is problem+json.
 */
export const gatewayHandler =
  (api: Hono) =>
  async (event: APIGatewayProxyEventV2 | APIGatewayProxyEvent): Promise<APIGatewayProxyStructuredResultV2> => {
    const response = await api.fetch(requestOf('httpMethod' in event ? ofRestApi(event) : event));
    const isBase64Encoded = response.headers.has('content-encoding');
    return {
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      body: isBase64Encoded ? Buffer.from(await response.arrayBuffer()).toString('base64') : await response.text(),
      isBase64Encoded,
    };
  };

/** The parts of an event in format 2.0 that the API uses. */
type Requested = Pick<APIGatewayProxyEventV2, 'rawPath' | 'rawQueryString' | 'headers' | 'body' | 'isBase64Encoded'> & {
  readonly requestContext: { readonly http: { readonly method: string } };
};

/** Converts an event of a REST API. In it, values of the query are decoded, the path may be encoded, and absent fields are null. */
function ofRestApi({ httpMethod, path, multiValueQueryStringParameters, multiValueHeaders, body, isBase64Encoded }: APIGatewayProxyEvent) {
  const query = new URLSearchParams();
  for (const [name, values = []] of Object.entries(multiValueQueryStringParameters ?? {}))
    for (const value of values) query.append(name, value);
  const headers = Object.entries(multiValueHeaders ?? {}).map(([name, values = []]) => [name.toLowerCase(), values.join(',')]);
  return {
    rawPath: decoded(path),
    rawQueryString: String(query),
    requestContext: { http: { method: httpMethod } },
    headers: Object.fromEntries(headers) as { [name: string]: string },
    ...(body === null ? {} : { body }),
    isBase64Encoded,
  } satisfies Requested;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function requestOf({ rawPath, rawQueryString, requestContext, headers, body, isBase64Encoded }: Requested): Request {
  const { method } = requestContext.http;
  // The response never depends on the host, so a forged one has no effect.
  const url = `http://redress${rawPath.startsWith('/') ? '' : '/'}${encoded(rawPath)}${rawQueryString ? `?${rawQueryString}` : ''}`;
  const bytes = body === undefined || bodiless.has(method) ? null : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  // The Request constructor rejects these methods; the API answers 405 to any unknown one.
  return new Request(url, {
    method: forbiddenMethods.has(method.toUpperCase()) ? 'UNKNOWN' : method,
    headers: headersOf(headers),
    body: bytes,
  });
}

/**
 * Encodes the path, because the gateway has decoded it (but not the query): a `#` or `\` in the path must not split the URL. Segments `.`
 * and `..` are encoded twice, because URL parsing would remove them; no route matches them.
 */
const encoded = (path: string): string =>
  path
    .toWellFormed()
    .split('/')
    .map((segment) => (/^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%252E') : encodeURIComponent(segment)))
    .join('/');

const bodiless = new Set(['GET', 'HEAD']);
const forbiddenMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** Encodes header values as bytes again: the gateway has decoded them as UTF-8, but a Headers object takes latin1. */
function headersOf(given: Requested['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, /[^\0-\xff]/.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value);
  }
  return headers;
}
