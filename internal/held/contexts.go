package held

import (
	"errors"
	"slices"
	"sync"

	"github.com/clichain/clichain/clispec"
)

// maxNames limits the number of IDs of one context.
const maxNames = 16

// contexts distinguishes lines of the current context of a process from late lines of earlier contexts. It is
// safe for concurrent use.
type contexts struct {
	rules *clispec.LiveRules

	mu      sync.Mutex
	id      string // of the context that Open or Resume began; "" if there is none, or if it has no ID
	resumed bool   // the context is a session of an earlier process
	past    int    // number of earlier contexts
	asked   bool   // a turn has begun
	// names are the IDs in the lines of this context if the process has only one at a time. cleared are those
	// of earlier contexts.
	names, cleared []string
}

// errUnnamed means that a process cannot get a new context, because late lines of the old context would look
// like those of the new one.
var errUnnamed = errors.New("no line named the context, or the new context has the ID of the old one")

// current returns the ID of the context that Open or Resume began.
func (c *contexts) current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// opened records the ID of a context that Open or Resume began.
func (c *contexts) opened(id string, resumed bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.past > 0 && c.id == id && len(c.rules.Barrier) == 0 {
		return errUnnamed
	}
	c.id, c.resumed = id, resumed
	return nil
}

// leave makes the current context an earlier one. It returns an error if late lines of that context could not
// be recognized.
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

// present reports whether an ID belongs to the current context. A process with one context at a time puts the
// ID of that context in each line. After the first Clear, a context has only one ID.
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

// ask records the beginning of a turn. It reports whether the turn is the first of the process, and whether it
// is the first after Resume.
func (c *contexts) ask() (first, resumed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, c.asked = !c.asked, true
	return first, first && c.resumed
}

// several reports whether a line without a context ID may be from an earlier context.
func (c *contexts) several() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past > 0
}
