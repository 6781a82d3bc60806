package conversation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// message is a message of the user or an answer.
type message struct {
	Role    clichain.Role `json:"role"`
	Content string        `json:"content"`
	// Files are paths of files that an agent changed while it answered, or failed to answer.
	Files []string `json:"files,omitempty"`
}

// text returns the message for a backend whose session does not hold it. The results of tools are not repeated, because
// the changes of an agent are on the disk.
func (m message) text() string {
	if len(m.Files) == 0 {
		return m.Content
	}
	quoted := make([]string, len(m.Files))
	for i, path := range m.Files {
		quoted[i] = fmt.Sprintf("%q", path)
	}
	return m.Content + "\n\n(Files on the disk that an agent changed in this turn: " + strings.Join(quoted, ", ") + ")"
}

func (m message) plain() clichain.Message { return clichain.Message{Role: m.Role, Content: m.Content} }

// history is what a conversation remembers.
type history struct {
	dropped  int    // number of messages before the first of messages
	lead     string // replaces the dropped messages; empty if there are none
	messages []message
	threads  []call.Thread // Messages includes the dropped ones
}

// size returns the size of messages as a backend gets them, in bytes, with the lines around each.
func size(messages []message) (n int) {
	const around = 64
	for _, m := range messages {
		n += len(m.text()) + around
	}
	return n
}

func (h *history) plain() []clichain.Message {
	plain := make([]clichain.Message, len(h.messages))
	for i, m := range h.messages {
		plain[i] = m.plain()
	}
	return plain
}

// total returns the number of all messages.
func (h *history) total() int { return h.dropped + len(h.messages) }

// ask adds a message of the user, unless it repeats the last message, which has no answer.
func (h *history) ask(text string) {
	if n := len(h.messages); n > 0 && h.messages[n-1].Role == clichain.RoleUser && h.messages[n-1].Content == text {
		return
	}
	h.messages = append(h.messages, message{Role: clichain.RoleUser, Content: text})
}

// surplus returns how many of the oldest messages must be dropped so that the others have at most limit bytes and begin
// with the user. The last message always remains.
func (h *history) surplus(limit int) (n int) {
	last := len(h.messages) - 1
	for rest := size(h.messages); n < last && rest > limit; n++ {
		rest -= size(h.messages[n : n+1])
	}
	for n > 0 && n < last && h.messages[n].Role != clichain.RoleUser {
		n++
	}
	return n
}

// without returns the history without its oldest n messages, with a text that replaces all dropped ones.
func (h history) without(n int, lead string) history {
	h.dropped, h.lead, h.messages = h.dropped+n, lead, slices.Clone(h.messages[n:])
	return h
}

// leadFor is the text that replaces dropped messages without a summary.
func leadFor(dropped int) string {
	return fmt.Sprintf("(The first %d messages of this conversation are left out.)", dropped)
}

// request adds the messages and the threads to the settings of the turns.
func (h *history) request(req clichain.Request) clichain.Request {
	req = req.Clone()
	begin := len(req.Messages)
	if h.lead != "" {
		req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleUser, Content: h.lead})
	}
	shown := len(req.Messages) - h.dropped
	for _, m := range h.messages {
		req.Messages = append(req.Messages, clichain.Message{Role: m.Role, Content: m.text()})
	}
	for _, t := range h.threads {
		switch {
		case t.Session == "":
		case t.Messages < h.dropped: // it lacks dropped messages, so it needs the lead
			t.Messages = begin
		default:
			t.Messages += shown
		}
		req.Threads = append(req.Threads, t)
	}
	return req
}
