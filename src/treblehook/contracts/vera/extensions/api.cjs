// The `vera` that an extension sees (vera.md 5). This runs in the extension's own worker, as the module that the Node runtime loads:
// its functions are `activate`, `fire` and `dispose`, and it asks the host to answer `ask` and to be told `removed`.
'use strict';

const { pathToFileURL } = require('node:url');

const FUNCTIONS = {
    registerPreToolUse: 'pre_tool_use',
    registerPostToolUse: 'post_tool_use',
    registerSessionStart: 'session_start',
    registerPreTurn: 'pre_turn',
    registerTurnEnding: 'turn_ending',
    registerTurnFinished: 'turn_finished',
    registerPreCompact: 'pre_compact',
    registerSessionEnd: 'session_end',
    registerSubagentFinished: 'subagent_finished',
};
const OBSERVERS = new Set(['turn_finished', 'pre_compact', 'session_end', 'subagent_finished']);
const MOST_DEPTH = 200;

function shown(value) {
    let text;
    try {
        text = typeof value === 'string' ? JSON.stringify(value) : Array.isArray(value) ? JSON.stringify(value) : String(value);
    } catch {
        text = typeof value;
    }
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

// Refuses what JSON would drop or bend: numbers that are not finite, objects of a class, functions, cycles. A key whose value is
// undefined counts as absent.
function checkClean(value, place, above) {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
    if (typeof value === 'number' && Number.isFinite(value)) return;
    if (typeof value !== 'object') throw new TypeError(`returned ${shown(value)} at ${place}, which is not JSON`);
    if (above.has(value)) throw new TypeError(`returned at ${place} a value that holds itself`);
    if (above.size >= MOST_DEPTH) throw new TypeError(`returned a value that is nested deeper than ${MOST_DEPTH} levels`);
    above.add(value);
    if (Array.isArray(value)) for (let index = 0; index < value.length; index++) checkClean(value[index], `${place}[${index}]`, above);
    else checkObject(value, place, above);
    above.delete(value);
}

function checkObject(value, place, above) {
    const prototype = Object.getPrototypeOf(value);
    // A plain object of another realm has a prototype that has none itself.
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
        throw new TypeError(`returned a ${value.constructor?.name ?? 'special object'} at ${place}; plain objects are allowed`);
    }
    if (typeof value.toJSON === 'function') throw new TypeError(`returned an object with toJSON at ${place}; plain objects are allowed`);
    for (const key of Object.keys(value)) if (value[key] !== undefined) checkClean(value[key], `${place}.${key}`, above);
}

function checked(value) {
    if (value === undefined) throw new TypeError('returned nothing; a function with nothing to say returns { power: "observe" }');
    checkClean(value, 'the answer', new Set());
    return value;
}

// The executable of a registerCommand call, or a TypeError.
function command(spec, rules) {
    if (spec === null || typeof spec !== 'object') throw new TypeError(`registerCommand: found ${shown(spec)}; it must be an object`);
    const { phase, argv, protocol = 'vera', timeoutMs = rules.defaultMs } = spec;
    const wrong = (key, allowed) => new TypeError(`registerCommand: ${key} is ${shown(spec[key])}; it must be ${allowed}`);
    if (protocol !== 'vera' && protocol !== 'claude') throw wrong('protocol', '"vera" or "claude"');
    const phases = rules.phases[protocol];
    if (!phases.includes(phase)) throw wrong('phase', `one of ${phases.join(', ')}`);
    if (!Array.isArray(argv) || argv.length === 0 || !argv.every((word) => typeof word === 'string' && word !== '')) {
        throw wrong('argv', 'an array with the executable and then its arguments, none of them empty');
    }
    if (argv.length > rules.arguments) throw new TypeError(`registerCommand: argv has ${argv.length} words; ${rules.arguments} are allowed`);
    const size = Buffer.byteLength(JSON.stringify(argv));
    if (size > rules.argvBytes) throw new TypeError(`registerCommand: argv has ${size} bytes as JSON; ${rules.argvBytes} are allowed`);
    if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > rules.longestMs) {
        throw wrong('timeoutMs', `a whole number of milliseconds from 1 to ${rules.longestMs}`);
    }
    return { phase, argv: [...argv], protocol, timeout_ms: timeoutMs };
}

module.exports = (host) => {
    const registered = [];
    let capabilities = [];
    let state = 'new';
    let undeclared;
    let disposer;

    function need(capability, what) {
        if (capabilities.includes(capability)) return;
        undeclared ??= new Error(`${what} needs the capability "${capability}", which the manifest does not declare`);
        throw undeclared;
    }

    function register(hook) {
        const number = registered.push(hook) - 1;
        return () => {
            if (hook.removed) return;
            hook.removed = true;
            if (state !== 'activating') host.call('removed', number).catch(() => {});
        };
    }

    function during(what) {
        if (state !== 'activating') throw new Error(`${what}: hooks are registered while activate runs, and not after`);
    }

    function api(config, rules) {
        const hooks = {};
        for (const [name, phase] of Object.entries(FUNCTIONS)) {
            hooks[name] = (run) => {
                during(name);
                need(`hooks.${phase}`, name);
                if (typeof run !== 'function') throw new TypeError(`${name}: found ${shown(run)}; it must be a function`);
                return register({ phase, run });
            };
        }
        hooks.registerCommand = (spec) => {
            during('registerCommand');
            need('hooks.command', 'registerCommand');
            return register(command(spec, rules));
        };
        return { config, hooks, sessions: { ask } };
    }

    async function ask(request) {
        if (!capabilities.includes('sessions.ask')) {
            throw new Error('sessions.ask needs the capability "sessions.ask", which the manifest does not declare');
        }
        if (state !== 'active') throw new Error(`sessions.ask: the host ${state === 'activating' ? 'is not ready yet' : 'is closing'}`);
        const { sessionId, question, maxTokens, signal } = request ?? {};
        return host.call('ask', { sessionId, question, maxTokens }, signal);
    }

    return {
        async activate({ entry, config, capabilities: declared, rules }) {
            state = 'activating';
            capabilities = declared;
            const module = await import(pathToFileURL(entry).href);
            const activate = module.activate ?? module.default?.activate;
            const client = module.activateClient ?? module.default?.activateClient;
            if (typeof activate === 'function') {
                const given = await activate(api(config, rules));
                disposer = typeof given === 'function' ? given : typeof given?.dispose === 'function' ? () => given.dispose() : undefined;
            } else if (typeof client !== 'function') {
                throw new TypeError('the module exports no function "activate"');
            }
            // Also where the extension has caught what it was thrown.
            if (undeclared) throw undeclared;
            state = 'active';
            return registered.map(({ run, removed, ...hook }, number) => ({ number, ...hook })).filter(({ number }) => !registered[number].removed);
        },

        fire({ hook, payload }) {
            const { phase, run } = registered[hook];
            const value = run(payload);
            const read = OBSERVERS.has(phase) ? () => null : checked;
            return value !== null && typeof value === 'object' && typeof value.then === 'function' ? value.then(read) : read(value);
        },

        async dispose() {
            state = 'closing';
            for (const hook of registered) hook.removed = true;
            await disposer?.();
        },
    };
};
