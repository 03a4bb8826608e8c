import { after } from 'node:test';
import { storeContract } from '../../contracts/store.contract.ts';
import { startDynamoDbLocal } from '../../support/emulators.ts';
import { openDynamoDbStore } from './support.ts';

/**
 * The store's contract a second time, on Amazon's own emulator. It comes by Maven and runs on Java 17, so this is only
 * done when it is asked for: `REDRESS_DYNAMODB_LOCAL=1 npm test test/adapters/aws/dynamodb-local.test.ts`. Then it fails where the
 * emulator cannot be had.
 */
if (process.env['REDRESS_DYNAMODB_LOCAL']) {
  const local = await startDynamoDbLocal();
  after(() => local.stop());
  storeContract('DynamoDB on DynamoDB Local', () => openDynamoDbStore(local));
}
