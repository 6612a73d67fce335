import assert from 'node:assert/strict';
import { test } from 'node:test';

import { activate } from '../index.mjs';

/** What the extension registers, by the name of the call. */
function registered(config = {}) {
    const found = {};
    const hooks = new Proxy({}, { get: (_, name) => (hook) => void (found[name] = hook) });
    activate({ config, hooks });
    return found;
}

const call = (command) => ({ toolCall: { id: 'call_1', name: 'bash', input: { command } } });

test('deleting the treasure is blocked', () => {
    assert.equal(registered().registerPreToolUse(call('rm treasure/chest')).power, 'block');
});

test('what is guarded can be configured', () => {
    const { registerPreToolUse } = registered({ guarded: 'map' });
    assert.equal(registerPreToolUse(call('rm map')).power, 'block');
    assert.equal(registerPreToolUse(call('rm treasure')).power, 'observe');
});

test('a prompt about the treasure gets context', () => {
    const { registerPreTurn } = registered();
    assert.equal(registerPreTurn({ prompt: 'where is the treasure?' }).power, 'mutate');
    assert.equal(registerPreTurn({ prompt: 'hello' }).power, 'observe');
});
