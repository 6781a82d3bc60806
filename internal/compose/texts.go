package compose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/transcript"
)

// schemaPrompt asks a CLI without a flag for schemas for a structured answer.
const schemaPrompt = "\n\nAnswer with one JSON value that is valid under the following JSON Schema, " +
	"and with nothing else: no explanation, no code fence.\n\n"

// setTexts sets the prompt and the system text. A text that no row uses becomes part of the prompt: the system text at
// its start, the schema at its end.
func (c *Call) setTexts(spec *clispec.Spec, req call.Request) *call.Error {
	prompt := promptText(req.Messages)
	c.Fields.Set("prompt", prompt)
	rest, err := c.setSystem(spec, req)
	if c.Fields.has("schema") && !c.uses(spec, "schema") {
		prompt += schemaPrompt + string(req.Schema)
	}
	if rest != "" {
		prompt = "SYSTEM: " + rest + "\n\n" + prompt
	}
	c.Fields.Set("prompt", prompt)
	return err
}

// setSystem sets the system text that replaces the CLI's own, and the text that is appended. It returns the text that
// no row uses.
func (c *Call) setSystem(spec *clispec.Spec, req call.Request) (rest string, _ *call.Error) {
	system, added := systemText(req.Messages), req.Options.AppendSystem
	if cmp.Or(req.Options.SystemMode, defaultMode(c.Access)) == call.SystemAppend {
		rest = paragraphs(system, added)
		c.Fields.Set("system", rest)
		c.Fields.Set("system_append", rest)
		if c.uses(spec, "system") || c.uses(spec, "system_append") {
			rest = ""
		}
		return rest, nil
	}
	own := cmp.Or(system, spec.SystemDefault)
	c.Fields.Set("system", paragraphs(own, added))
	c.Fields.Set("system_replace", own)
	c.Fields.Set("system_append", added)
	if !c.uses(spec, "system_append") { // one text contains both
		delete(c.Fields, "system_append")
		c.Fields.Set("system_replace", paragraphs(own, added))
		system = paragraphs(system, added)
	}
	if system == "" {
		c.setDefault(spec)
		return "", nil
	}
	switch {
	case c.uses(spec, "system") || c.uses(spec, "system_replace"):
		return "", nil
	case req.Options.SystemMode == call.SystemReplace:
		return "", call.Errorf(call.ReasonUnsupported, "options.system_mode",
			"%q is not supported by this backend", call.SystemReplace)
	}
	return system, nil
}

// setDefault sets the default system text of the spec in the field for the default alone, or in the general one. The
// default is no secret, so a row may pass it as an argument. A system text of the caller needs a file.
func (c *Call) setDefault(spec *clispec.Spec) {
	c.Fields.Set("system_default", spec.SystemDefault)
	unwanted := "system_replace"
	if !c.uses(spec, "system_default") {
		unwanted = "system_default"
	}
	delete(c.Fields, unwanted)
}

// paragraphs joins the nonempty texts with blank lines.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n\n")
}

// defaultMode returns the system mode of a request that sets none. An agent needs the CLI's own system prompt; a plain
// completion does not.
func defaultMode(a call.Access) call.SystemMode {
	if a == call.AccessNone {
		return call.SystemReplace
	}
	return call.SystemAppend
}

// systemText joins the system messages with blank lines.
func systemText(messages []call.Message) string {
	var parts []string
	for _, m := range messages {
		if m.Role == call.RoleSystem {
			parts = append(parts, m.Content)
		}
	}
	return strings.Join(parts, "\n\n")
}

// promptText returns the conversation, without the system messages, as one text.
func promptText(messages []call.Message) string {
	isSystem := func(m call.Message) bool { return m.Role == call.RoleSystem }
	return transcript.Conversation(slices.DeleteFunc(slices.Clone(messages), isSystem))
}
