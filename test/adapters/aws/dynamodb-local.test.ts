import { after } from 'node:test';
import { storeContract } from '../../contracts/store.contract.ts';
import { startDynamoDbLocal } from '../../support/emulators.ts';
import { openDynamoDbStore } from './support.ts';

/**
 * The store's contract again, on Amazon's own emulator from Maven (Java 17). It runs only on request, and fails if the
 * emulator is unavailable: `REDRESS_DYNAMODB_LOCAL=1 npm test test/adapters/aws/dynamodb-local.test.ts`.
 */
if (process.env['REDRESS_DYNAMODB_LOCAL']) {
  const local = await startDynamoDbLocal();
  after(() => local.stop());
  storeContract('DynamoDB on DynamoDB Local', () => openDynamoDbStore(local));
}
