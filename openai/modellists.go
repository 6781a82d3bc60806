package openai

import (
	"context"
	"time"
)

// listAge is the time for which a list of models is used. Reading it starts every CLI.
const listAge = 10 * time.Minute

// modelLists keeps the models that the CLIs list.
type modelLists struct {
	read  func(context.Context) []string // nil: there is no list
	busy  chan struct{}                  // holds one value while a request uses the other fields
	names []string
	until time.Time
}

// get returns the list, and reads it if it is too old. It returns nil if ctx ends before.
func (l *modelLists) get(ctx context.Context) []string {
	if l.read == nil {
		return nil
	}
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return nil
	}
	if time.Now().Before(l.until) {
		return l.names
	}
	if names := l.read(ctx); ctx.Err() == nil {
		l.names, l.until = names, time.Now().Add(listAge)
		return names
	}
	return nil
}
