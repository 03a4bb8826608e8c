import { createCipheriv, createDecipheriv } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;

/** Encrypts bytes with AES-256-GCM: nonce, ciphertext, tag. `about` is authenticated, but not part of the result. */
export function encrypted(key: Uint8Array, plain: Uint8Array, about: string, random: (bytes: number) => Uint8Array): Buffer {
  const nonce = random(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(about, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `encrypted` returned. Throws if the key, the content or `about` differs from that of the encryption. */
export function decrypted(key: Uint8Array, content: Uint8Array, about: string): Buffer {
  const decipher = createDecipheriv(algorithm, key, content.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(about, 'utf8'))
    .setAuthTag(content.subarray(content.length - tagBytes));
  return Buffer.concat([decipher.update(content.subarray(nonceBytes, content.length - tagBytes)), decipher.final()]);
}
