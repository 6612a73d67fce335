// Runs the executables in the list `hooks` of its configuration; without the list, nothing. From its own folder Treblehook does
// the same without starting Node. A copy of the folder, to be changed, is an extension like any other.
import path from 'node:path';

export function activate(vera) {
    for (const { phase, argv, protocol, timeout_ms: timeoutMs } of vera.config.hooks ?? []) {
        if (!Array.isArray(argv) || !path.isAbsolute(String(argv[0]))) throw new TypeError('argv must begin with an absolute path');
        vera.hooks.registerCommand({ phase, argv, protocol, timeoutMs });
    }
}
