import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as redress from 'redress';
import * as http from 'redress/http';
import * as testing from 'redress/testing';

test('a test of orders imports workflows and stubs side by side: no two entry points export the same name', () => {
  const names = [redress, http, testing].flatMap((entry) => Object.keys(entry));
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});
