const show = (line) => console.error(line)

/** A throw is the only no that OpenCode takes. */
function refuse(reason) {
  throw new Refusal(reason)
}

export const Treblehook = async ({ directory }) => {
  leaveMark()
  /** A subagent has a session of its own: the session that it works for. */
  const parents = new Map()
  /** The latest words of each session that were not followed by a tool call. */
  const replies = new Map()
  /** Context that came when there was no prompt to put it into. */
  const held = new Map()
  let servers = []

  function about(session) {
    let root = session
    while (parents.has(root)) root = parents.get(root)
    return { session: root, subagent: root === session ? "" : session, workspace: directory, servers }
  }

  async function told(event, session, more) {
    const answer = await ask(event.type, { ...about(session), input: { event }, ...more }, show)
    if (answer.context) held.set(session, [...(held.get(session) ?? []), answer.context])
  }

  async function happened(event) {
    const { type, properties } = event
    const session = properties?.sessionID
    if (type === "session.created") {
      if (properties.info?.parentID) parents.set(properties.info.id, properties.info.parentID)
    } else if (type === "session.error") {
      replies.delete(session)
    } else if (type === "message.part.updated") {
      const { part } = properties
      if (part?.type === "step-finish" && part.reason === "tool-calls") replies.delete(part.sessionID)
    } else if (type === "session.idle") {
      const reply = replies.get(session)
      replies.delete(session)
      if (reply !== undefined) await told(event, session, { reply })
    } else if (type === "session.compacted") {
      await told(event, session)
    } else if (type === "session.deleted") {
      await told(event, session ?? properties.info.id)
    }
  }

  /** Context becomes a part of the prompt's text: so it is in the history, and any part of our own could be refused as invalid. */
  function addContext(session, parts, context) {
    const texts = [...(held.get(session) ?? []), ...(context ? [context] : [])]
    const part = parts.find((one) => one.type === "text" && !one.synthetic) ?? parts.find((one) => one.type === "text")
    held.set(session, part ? [] : texts)
    if (part && texts.length) part.text += `\n\n<hook_context>\n${texts.join("\n\n")}\n</hook_context>`
  }

  async function prompted(input, output) {
    const { id, role, model } = output.message
    const parts = output.parts.filter((part) => part.type === "text")
    const call = { input: { sessionID: input.sessionID }, output: { message: { id, role, model }, parts } }
    const answer = await ask("chat.message", { ...about(input.sessionID), ...call }, show)
    if (answer.block !== undefined) refuse(answer.block)
    addContext(input.sessionID, output.parts, answer.context)
  }

  async function coming(input, output) {
    const answer = await ask("tool.execute.before", { ...about(input.sessionID), input, output: { args: output.args } }, show)
    if (answer.deny !== undefined) refuse(answer.deny)
    if (answer.args !== undefined) become(output.args, answer.args)
  }

  async function ran(input, output) {
    const { title, metadata, content } = output
    const texts = content?.filter?.((one) => one.type === "text")
    const call = { input, output: { title, metadata, output: output.output, content: texts } }
    const answer = await ask("tool.execute.after", { ...about(input.sessionID), ...call }, show)
    if (answer.content === undefined) return
    if (answer.is_error) refuse(answer.content)
    if (Array.isArray(content)) output.content = [{ type: "text", text: answer.content }, ...content.filter((one) => one.type !== "text")]
    else output.output = answer.content
  }

  async function compacting(input) {
    await ask("experimental.session.compacting", { ...about(input.sessionID), input: { sessionID: input.sessionID } }, show)
  }

  const handler = (name, handle) => (input, output) => guarded(name, show, () => handle(input, output), refuse)
  return {
    config: handler("config", (config) => void (servers = Object.keys(config?.mcp ?? {}))),
    event: handler("event", ({ event }) => happened(event)),
    "chat.message": handler("chat.message", prompted),
    "tool.execute.before": handler("tool.execute.before", coming),
    "tool.execute.after": handler("tool.execute.after", ran),
    "experimental.session.compacting": handler("experimental.session.compacting", compacting),
    "experimental.text.complete": handler("experimental.text.complete", (input, output) => void replies.set(input.sessionID, output.text)),
  }
}
