/** The passwords, keys and tokens with which agents call their services. */
export interface Credentials {
  /** Returns the current value; undefined if the deployment names no such credential. Rejects while its store is unavailable. */
  read(name: string): Promise<string | undefined>;
}
