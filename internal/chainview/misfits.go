package chainview

import (
	"context"
	"sync/atomic"
)

// Misfits counts the answers of a call that do not match its schema, over all backends and their corrections. Nil
// counts nothing. It is safe for concurrent use.
type Misfits struct {
	limit int32
	count atomic.Int32
}

type misfitsKey struct{}

// WithMisfits returns a context in which a call ends after limit answers that do not match its schema.
func WithMisfits(ctx context.Context, limit int32) context.Context {
	return context.WithValue(ctx, misfitsKey{}, &Misfits{limit: limit})
}

// MisfitsOf returns the counter of a context, or nil.
func MisfitsOf(ctx context.Context) *Misfits {
	m, _ := ctx.Value(misfitsKey{}).(*Misfits)
	return m
}

// Add counts an answer that does not match the schema.
func (m *Misfits) Add() {
	if m != nil {
		m.count.Add(1)
	}
}

// Spent reports whether no further answer may be requested.
func (m *Misfits) Spent() bool { return m != nil && m.count.Load() >= m.limit }
