package batch

import (
	"fmt"
	"sync"
)

// notices passes messages for an operator on. It is safe for concurrent use.
type notices struct {
	tell func(message string) // nil: nothing is passed on

	mu   sync.Mutex
	seen map[string]bool
}

func newNotices(tell func(string)) *notices { return &notices{tell: tell, seen: map[string]bool{}} }

func (n *notices) say(format string, args ...any) {
	if n.tell != nil {
		n.tell(fmt.Sprintf(format, args...))
	}
}

// once passes on the first message with a key.
func (n *notices) once(key, format string, args ...any) {
	n.mu.Lock()
	seen := n.seen[key]
	n.seen[key] = true
	n.mu.Unlock()
	if !seen {
		n.say(format, args...)
	}
}
