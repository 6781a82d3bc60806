package reading

import (
	"hash/maphash"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Said knows, without storing it, which text the reader of a stream has received. It is safe for concurrent
// use. Set the exported fields before its first event.
type Said struct {
	// KeepCommentary and Answer are as in Reading. If the reader also receives remarks, Said compares only the
	// text after the last remark.
	KeepCommentary bool
	Answer         clispec.AnswerMode

	mu     sync.Mutex
	length int
	hash   maphash.Hash
}

// See records an event that is being delivered to the reader.
func (s *Said) See(e call.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case call.EventReset:
		s.forget()
	case call.EventToolUse:
		if s.KeepCommentary {
			s.forget()
		}
	case call.EventText:
		if s.KeepCommentary && s.Answer == clispec.AnswerLastBlock {
			s.forget()
		}
		s.add(e.Text)
	case call.EventDelta:
		s.add(e.Text)
	}
}

func (s *Said) forget() {
	s.length = 0
	s.hash.Reset()
}

func (s *Said) add(text string) {
	s.length += len(text)
	_, _ = s.hash.WriteString(text) // never fails
}

// Missing returns the events that turn the reader's text into the answer.
func (s *Said) Missing(answer string) []call.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := call.Event{Kind: call.EventText, Text: answer}
	switch {
	case s.length == 0:
		return []call.Event{whole}
	case s.length > len(answer) || maphash.String(s.hash.Seed(), answer[:s.length]) != s.hash.Sum64():
		return []call.Event{{Kind: call.EventReset, Message: "the text so far is not the answer"}, whole}
	case s.length < len(answer):
		return []call.Event{{Kind: call.EventDelta, Text: answer[s.length:]}}
	}
	return nil
}
