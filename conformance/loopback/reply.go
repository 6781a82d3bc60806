package loopback

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Reply is the server's answer to one request. Build it with Text, Thinking, Tool, Join, Slow, Status, Hang or
// Truncate. The zero value is an answer without content.
type Reply struct {
	parts    []part
	header   map[string]string
	status   *statusReply
	delay    time.Duration
	hang     bool
	truncate bool
	open     bool // the cut comes before the end of the last block
	full     bool // the answer ends at the model's output limit
	failure  *streamFailure
}

type partKind int

const (
	textPart partKind = iota
	thinkingPart
	toolPart
)

// part is one block of an answer, in the model's order.
type part struct {
	kind partKind
	text string
	tool string
	args map[string]any

	namespace string // of the tool, in the Responses API
}

type statusReply struct {
	code int
	body string
	kind string // set if body is a message that the protocol wraps in its own error object
}

type streamFailure struct{ code, message string }

// Text answers with text, streamed word by word.
func Text(text string) Reply { return Reply{parts: []part{{kind: textPart, text: text}}} }

// Thinking answers with reasoning. Join it with a Text, because most CLIs ask again if no text follows.
func Thinking(text string) Reply { return Reply{parts: []part{{kind: thinkingPart, text: text}}} }

// Tool asks the CLI to run one of its tools, by the CLI's name for it.
func Tool(name string, args map[string]any) Reply {
	return Reply{parts: []part{{kind: toolPart, tool: name, args: maps.Clone(args)}}}
}

// ToolOf asks for a tool of a namespace, as the Responses API groups tools. Other protocols use only the name.
func ToolOf(namespace, name string, args map[string]any) Reply {
	r := Tool(name, args)
	r.parts[0].namespace = namespace
	return r
}

// Full answers with the joined replies and stops at the model's output limit, over the Chat API.
func Full(replies ...Reply) Reply {
	r := Join(replies...)
	r.full = true
	return r
}

// Join puts the parts of several replies into one answer. It takes the behavior (delay, truncation) of the last
// reply.
func Join(replies ...Reply) Reply {
	var joined Reply
	for _, r := range replies {
		parts := slices.Concat(joined.parts, r.parts)
		joined = r
		joined.parts = parts
	}
	return joined
}

// Slow answers with the joined replies and waits before every piece of the stream.
func Slow(delay time.Duration, replies ...Reply) Reply {
	r := Join(replies...)
	r.delay = delay
	return r
}

// Status answers with an HTTP status, headers and a body instead of a stream.
func Status(code int, header map[string]string, body string) Reply {
	return Reply{header: header, status: &statusReply{code: code, body: body}}
}

// Error answers with an HTTP status in the shape in which the protocol of the request reports errors.
func Error(code int, kind, message string) Reply {
	return Reply{status: &statusReply{code: code, body: message, kind: kind}}
}

// With adds a header, such as Retry-After. Join and Slow drop it.
func (r Reply) With(header, value string) Reply {
	headers := map[string]string{header: value}
	maps.Copy(headers, r.header)
	r.header = headers
	return r
}

// Fail begins a stream with status 200 and then reports a failure inside it, as overloaded services do. Joined to
// other replies, it fails within their last block.
func Fail(code, message string) Reply {
	return Reply{failure: &streamFailure{code: code, message: message}}
}

// Within replaces "WORK" with a directory in the arguments of the tools, for CLIs that accept only absolute paths.
func (r Reply) Within(dir string) Reply {
	r.parts = slices.Clone(r.parts)
	for i, p := range r.parts {
		r.parts[i].args = maps.Clone(p.args)
		for name, value := range p.args {
			if text, ok := value.(string); ok {
				r.parts[i].args[name] = strings.ReplaceAll(text, "WORK", dir)
			}
		}
	}
	return r
}

// Hang accepts the request and never answers, until the client disconnects or the server closes.
func Hang() Reply { return Reply{hang: true} }

// Truncate sends the joined replies and then cuts the connection before the end of the stream.
func Truncate(replies ...Reply) Reply {
	r := Join(replies...)
	r.truncate = true
	return r
}

// TruncateOpen cuts the connection before the end of the last block, in protocols that mark its end.
func TruncateOpen(replies ...Reply) Reply {
	r := Truncate(replies...)
	r.open = true
	return r
}

// wholeText joins the texts of a reply, for protocols and modes that use one string.
func (r Reply) wholeText() (text string) {
	for _, p := range r.parts {
		if p.kind == textPart {
			text += p.text
		}
	}
	return text
}

// finish chooses the protocol's reason for the end of the answer.
func (r Reply) finish(withTools, without string) string {
	if slices.ContainsFunc(r.parts, func(p part) bool { return p.kind == toolPart }) {
		return withTools
	}
	return without
}
