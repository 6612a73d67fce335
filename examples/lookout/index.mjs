/** A word about the treasure, and one more pass for a reply that says done and shows no map. */
export function activate(vera) {
    const { spotted = '', nudge = '' } = vera.config.rows ?? {};

    vera.hooks.registerPreTurn(({ prompt }) => {
        if (!/treasure/i.test(prompt)) return { power: 'observe' };
        return { power: 'mutate', context: 'The crow buried it under the third palm.', display: spotted };
    });

    vera.hooks.registerTurnEnding(({ reply }) => {
        if (!/\bdone\b/i.test(reply) || /\bmap\b/i.test(reply)) return { power: 'observe' };
        return { power: 'continue', context: 'You said done but drew no map.', display: nudge };
    });
}
