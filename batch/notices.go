package batch

import (
	"fmt"
	"sync"
)

// notices passes messages to Config.Notice. It is safe for concurrent use.
type notices struct {
	send func(message string) // nil: discard the messages

	mu   sync.Mutex
	seen map[string]bool
}

func newNotices(send func(string)) *notices { return &notices{send: send, seen: map[string]bool{}} }

func (n *notices) say(format string, args ...any) {
	if n.send != nil {
		n.send(fmt.Sprintf(format, args...))
	}
}

// once passes on only the first message with each key.
func (n *notices) once(key, format string, args ...any) {
	n.mu.Lock()
	seen := n.seen[key]
	n.seen[key] = true
	n.mu.Unlock()
	if !seen {
		n.say(format, args...)
	}
}
