// What a Vera extension sees: `activate(vera)`, the payload of every hook, and what a hook may answer.
//
// In JavaScript:  /** @param {import("./vera.d.ts").Vera} vera */
//                 export function activate(vera) { ... }

/** Your extension's entry: it registers its hooks here and nowhere else, within 5 seconds. What it returns is called at the end. */
export type Activate = (vera: Vera) => void | Disposer | Promise<void | Disposer>;

/** Takes back one registration; given back by `activate`, ends the extension. It may take 2 seconds. */
export type Disposer = () => void | Promise<void>;

export interface Vera {
    /** The `config` of your entry in config.json; `{"env": "NAME"}` in it has become that variable's value. */
    readonly config: any;
    readonly hooks: Hooks;
    readonly sessions: Sessions;
}

/** Each call needs the capability of its name in the manifest, such as `hooks.pre_tool_use`, and returns its disposer. */
export interface Hooks {
    registerPreToolUse(hook: (payload: PreToolUse) => Awaitable<PreToolUseResult>): Disposer;
    registerPostToolUse(hook: (payload: PostToolUse) => Awaitable<PostToolUseResult>): Disposer;
    registerSessionStart(hook: (payload: SessionStart) => Awaitable<SessionStartResult>): Disposer;
    registerPreTurn(hook: (payload: PreTurn) => Awaitable<PreTurnResult>): Disposer;
    registerTurnEnding(hook: (payload: TurnEnding) => Awaitable<TurnEndingResult>): Disposer;
    registerTurnFinished(hook: (payload: TurnFinished) => unknown): Disposer;
    registerPreCompact(hook: (payload: PreCompact) => unknown): Disposer;
    registerSessionEnd(hook: (payload: SessionEnd) => unknown): Disposer;
    registerSubagentFinished(hook: (payload: SubagentFinished) => unknown): Disposer;
    /** An executable, as in the `hooks` list of config.json; `argv` is used as it is. Needs `hooks.command`. */
    registerCommand(command: Command): Disposer;
}

export type Awaitable<T> = T | Promise<T>;

export interface Command {
    phase: CommandPhase | ClaudeEvent;
    /** At most 16 words, and 8192 bytes as JSON. */
    argv: string[];
    /** A Claude event needs "claude". */
    protocol?: "vera" | "claude";
    /** 1 to 30000; 1000 where it is left out. */
    timeoutMs?: number;
}

export type CommandPhase =
    | "session_start"
    | "pre_turn"
    | "pre_compact"
    | "pre_tool_use"
    | "post_tool_use"
    | "turn_ending"
    | "subagent_finished"
    | "session_end";

export type ClaudeEvent =
    | "PreToolUse"
    | "SessionStart"
    | "UserPromptSubmit"
    | "Stop"
    | "SubagentStop"
    | "PreCompact"
    | "SessionEnd";

export interface Sessions {
    /**
     * One side question to an open session: its last model request again, with the question added. The session gains nothing but
     * what it cost. Needs `sessions.ask`. Rejects while extensions are activated, for a session that is not open or has asked its
     * model nothing yet, and where the model calls a tool.
     */
    ask(request: AskRequest): Promise<AskAnswer>;
}

export interface AskRequest {
    sessionId: string;
    question: string;
    maxTokens?: number;
    signal?: AbortSignal;
}

export interface AskAnswer {
    text: string;
    model: string;
    provider: string;
}

// Payloads

export interface ToolCall {
    id: string;
    name: string;
    input: Record<string, unknown>;
}

export interface TextBlock {
    type: "text";
    text: string;
}

/** Before a tool call. */
export interface PreToolUse {
    type: "pre_tool_use";
    toolCall: ToolCall;
    sessionId: string;
    workspace: string;
}

/** After a tool call that ran or was replaced. */
export interface PostToolUse {
    type: "post_tool_use";
    toolCall: ToolCall;
    sessionId: string;
    workspace: string;
    result: ToolResult;
    /** 0 for a replaced call. */
    durationMs: number;
}

export interface ToolResult {
    toolCallId: string;
    toolName: string;
    content: TextBlock[];
    isError: boolean;
}

/** A conversation starts, is resumed, or has just been compacted. */
export interface SessionStart {
    type: "session_start";
    sessionId: string;
    workspace: string;
    reason: "start" | "resume" | "compacted";
}

/** Before a message reaches the model; once for each message. */
export interface PreTurn {
    type: "pre_turn";
    sessionId: string;
    workspace: string;
    prompt: string;
    model: string;
    /** The tools that are offered now. */
    tools: string[];
    reasoningEffort?: string;
    /** The message joins a turn that is running. */
    arrivedDuringTurn: boolean;
    /** Another agent started the session. */
    spawned: boolean;
}

/** The model has made a final reply, and the turn would end. */
export interface TurnEnding {
    type: "turn_ending";
    sessionId: string;
    workspace: string;
    prompt: string;
    reply: string;
    spawned: boolean;
    /** How often the turn has been continued already; a turn gets one continuation. */
    continuations: number;
}

/** A turn is over. */
export interface TurnFinished {
    type: "turn_finished";
    sessionId: string;
    workspace: string;
    outcome: "completed" | "error" | "aborted";
    /** How many prompts the session has had. */
    turns: number;
    spawned: boolean;
    prompt: string;
    reply: string;
}

/** A compaction starts. */
export interface PreCompact {
    type: "pre_compact";
    sessionId: string;
    workspace: string;
    reason: "manual" | "automatic";
    /** The estimated size of the context. */
    tokens: number;
    /** The context window, where it is known. */
    capacity?: number;
    spawned: boolean;
}

/** A session closes. */
export interface SessionEnd {
    type: "session_end";
    sessionId: string;
    workspace: string;
    reason: "detached" | "closed" | "idle" | "deleted" | "shutdown";
    turns: number;
    spawned: boolean;
}

/** A subagent hands its result back. */
export interface SubagentFinished {
    type: "subagent_finished";
    parentSessionId: string;
    subagentId: string;
    workspace: string;
    /** False where the parent waited for it. */
    background: boolean;
    outcome: "completed" | "error";
    text: string;
}

// Answers. Whatever is not one of these, or takes too long, counts as `observe`: an extension always fails open.

export interface Observe {
    power: "observe";
}

/** At most 64 KiB of JSON. */
export interface Block {
    power: "block";
    reason: string;
}

/** A new input for the call, whole. At most 64 KiB of JSON. */
export interface NewInput {
    power: "mutate";
    input: Record<string, unknown>;
}

/** The tool is not run; this is its result. At most 64 KiB of JSON. */
export interface Replace {
    power: "replace";
    result: { content: TextBlock[]; isError: boolean };
}

/** What is left out stays. At most 64 KiB of JSON. */
export interface Patch {
    power: "mutate";
    patch: { content?: TextBlock[]; isError?: boolean };
}

/** At most 128 KiB; empty text adds nothing. */
export interface AddContext {
    power: "mutate";
    context: string;
}

export interface ChangeTurn {
    power: "mutate";
    /** Text for the model, after the message; at most 128 KiB. */
    context?: string;
    /** Names to keep offering, of those in the payload. */
    tools?: string[];
    /** Neither this nor the effort changes for a message that joins a running turn. */
    model?: string;
    reasoningEffort?: string;
    /** One line, at most 200 characters, for the transcript in place of the usual row. */
    display?: string;
}

/** Sends the model back once. */
export interface Continue {
    power: "continue";
    /** Not empty; at most 128 KiB. */
    context: string;
    display?: string;
}

export type PreToolUseResult = Observe | NewInput | Block | Replace;
export type PostToolUseResult = Observe | Patch;
export type SessionStartResult = Observe | AddContext;
export type PreTurnResult = Observe | ChangeTurn | Block;
export type TurnEndingResult = Observe | Continue;
