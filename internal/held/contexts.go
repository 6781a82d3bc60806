package held

import (
	"errors"
	"slices"
	"sync"

	"github.com/clichain/clichain/clispec"
)

// maxNames is how many ids one context may have.
const maxNames = 16

// contexts tells the lines of the present context of a process from late lines of the
// earlier ones. It is safe for concurrent use.
type contexts struct {
	rules *clispec.LiveRules

	mu      sync.Mutex
	id      string // of the context that Open or Resume began; "": there is none, or it has no id
	resumed bool   // it is a session of an earlier process
	past    int    // contexts before this one
	asked   bool   // a turn was begun
	// names are the ids in the lines of this context where it is the only one of its
	// process, and cleared those of the contexts before.
	names, cleared []string
}

// errUnnamed is why a process cannot be given a new context: late lines of the old one
// could not be told from those of the new one.
var errUnnamed = errors.New("no line named the context, or the new one has the id of the old one")

// current is the id of the context that Open or Resume began.
func (c *contexts) current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// opened notes the id of a context that Open began, or Resume.
func (c *contexts) opened(id string, resumed bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.past > 0 && c.id == id && len(c.rules.Barrier) == 0 {
		return errUnnamed
	}
	c.id, c.resumed = id, resumed
	return nil
}

// leave makes the present context one of the past. The error says that its late lines
// could not be recognized.
func (c *contexts) leave() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rules.Open)+len(c.rules.Barrier)+len(c.names) == 0 {
		return errUnnamed
	}
	c.past++
	c.cleared, c.names = append(c.cleared, c.names...), nil
	return nil
}

// present reports whether an id names the present context. A process with one context
// tells its id in each line. After the first Clear, no second id is accepted.
func (c *contexts) present(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rules.Open) > 0 {
		return id == c.id
	}
	most := maxNames
	if c.past > 0 {
		most = 1
	}
	switch {
	case slices.Contains(c.names, id):
		return true
	case slices.Contains(c.cleared, id) || len(c.names) >= most:
		return false
	}
	c.names = append(c.names, id)
	return true
}

// ask notes that a turn begins, and reports whether it is the first of the process, and the first after Resume.
func (c *contexts) ask() (first, resumed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, c.asked = !c.asked, true
	return first, first && c.resumed
}

// several reports whether a line that names no context may be of an earlier one.
func (c *contexts) several() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past > 0
}
