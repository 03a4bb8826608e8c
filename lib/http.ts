/** The client for agents in front of HTTP services. */
export type { HttpHeaders, HttpService, HttpServiceOptions } from '#http-service/http-service';
export { httpService } from '#http-service/http-service';
export { path } from '#http-service/path';
