// @ts-check

/** @param {import("./vera.d.ts").Vera} vera */
export function activate(vera) {
    const guarded = vera.config.guarded ?? 'treasure';

    vera.hooks.registerPreToolUse(({ toolCall }) => {
        const command = String(toolCall.input.command ?? '');
        if (toolCall.name === 'bash' && command.includes('rm ') && command.includes(guarded)) {
            return { power: 'block', reason: `Leave the ${guarded} where it is.` };
        }
        return { power: 'observe' };
    });

    vera.hooks.registerPreTurn(({ prompt }) => {
        if (!prompt.includes(guarded)) return { power: 'observe' };
        return { power: 'mutate', context: `The ${guarded} is guarded: it may be looked at, not deleted.` };
    });
}
