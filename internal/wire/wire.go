// Package wire speaks with a CLI that stays running, in lines of JSON: requests
// and responses in both directions, and notices. It knows how they are written and
// which response belongs to which request, and nothing of what they say. It starts
// no process and keeps no word of what passes.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
)

// Conn is a conversation with one process. Set the funcs before the first line.
// It is safe for concurrent use.
type Conn struct {
	// Send writes a line, which has no end yet. It may wait until ctx is done.
	Send func(ctx context.Context, line []byte) error
	// Noticed gets each line that is no response and no request, and the name of the
	// notice. The line is valid during the call only. It may block: then the process
	// waits, and nothing is lost.
	Noticed func(method string, line []byte)
	// Asked gets a request of the other side. It must not block, and must have the
	// request answered some time. False: nobody knows such a request, which is then
	// refused at once.
	Asked func(Request) (known bool)

	envelope envelope

	mu      sync.Mutex
	last    int                      // request that was sent
	waiting map[string]func(message) // for a response, by the id of the request
	ended   error                    // no response comes any more
}

// Request is one that the other side has sent, and waits for an answer to.
type Request struct {
	Method string
	Params json.RawMessage // nil: none
	id     json.RawMessage
	conn   *Conn
}

// Error is a response that tells of a failure.
type Error struct {
	Code    int // of JSON-RPC; 0: none
	Message string
	Data    json.RawMessage // nil: none
}

// Error is the message, with the code if there is one.
func (e *Error) Error() string {
	if e.Code == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (%d)", e.Message, e.Code)
}

// refuseTime bounds the wait for room to refuse a request.
const refuseTime = 5 * time.Second

// MethodNotFound is the code with which a request that nobody knows is refused.
const MethodNotFound = -32601

// New makes a Conn that writes messages in an envelope that a spec names.
func New(e clispec.LiveEnvelope) *Conn {
	return &Conn{envelope: envelopes[e], waiting: map[string]func(message){}}
}

// Call sends a request and waits for its response. The error is an [*Error] where
// the other side refused, that of ctx, or that of End.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	type reply struct {
		result json.RawMessage
		err    error
	}
	answered := make(chan reply, 1) // so that the reader never waits
	forget, err := c.Ask(ctx, method, params, func(result json.RawMessage, err error) { answered <- reply{result, err} })
	if err != nil {
		return nil, err
	}
	defer forget()
	select {
	case r := <-answered:
		return r.result, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Ask sends a request. What is to happen then gets its response, or an error like that
// of Call, once: in order with the lines before and after the response, so that it must
// not wait for a later one. Call forget when no response is wanted any more.
func (c *Conn) Ask(
	ctx context.Context, method string, params json.RawMessage, then func(json.RawMessage, error),
) (forget func(), err error) {
	n, err := c.expect(func(m message) {
		switch {
		case m.ended != nil:
			then(nil, m.ended)
		case m.err != nil:
			then(nil, m.err)
		default:
			then(m.body, nil)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := c.write(ctx, c.envelope.request(n, method, params)); err != nil {
		if c.take(c.envelope.id(n)) == nil {
			return func() {}, nil // End has told it
		}
		return nil, err
	}
	return func() { c.take(c.envelope.id(n)) }, nil
}

// expect makes the id of a request whose response is awaited.
func (c *Conn) expect(answered func(message)) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return 0, c.ended
	}
	c.last++
	c.waiting[c.envelope.id(c.last)] = answered
	return c.last, nil
}

// take is what waits for a response, which waits no more; nil: nothing does.
func (c *Conn) take(id string) func(message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answered := c.waiting[id]
	delete(c.waiting, id)
	return answered
}

// Notify sends a message that has no response.
func (c *Conn) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return c.write(ctx, c.envelope.notice(method, params))
}

func (c *Conn) write(ctx context.Context, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("a message could not be written as JSON: %w", err)
	}
	return c.Send(ctx, line)
}

// Line takes a line of the other side. One goroutine calls it. It returns false for
// a line that is no JSON object.
func (c *Conn) Line(line []byte) bool {
	root, ok := jsontext.ParseObject(line)
	if !ok {
		return false
	}
	switch m := c.envelope.read(root); m.kind {
	case response:
		if answered := c.take(m.id); answered != nil { // else it was given up, or answered before
			answered(m)
		}
	case request:
		asked := Request{m.method, m.body, json.RawMessage(strings.Clone(m.id)), c}
		if c.Asked == nil || !c.Asked(asked) {
			// A process that does not read, while it waits for us to do so, is of no use.
			ctx, cancel := context.WithTimeout(context.Background(), refuseTime)
			_ = asked.Refuse(ctx, &Error{Code: MethodNotFound, Message: "method not found"})
			cancel()
		}
	default:
		if c.Noticed != nil {
			c.Noticed(m.method, line)
		}
	}
	return true
}

// ErrEnded is that of a Conn whose other side has gone.
var ErrEnded = errors.New("the process has ended")

// End fails all that wait for a response, and all later calls, with the error; nil
// means [ErrEnded]. The first End counts.
func (c *Conn) End(err error) {
	if err == nil {
		err = ErrEnded
	}
	c.mu.Lock()
	waiting := c.waiting
	if c.ended == nil {
		c.ended, c.waiting = err, nil
	}
	c.mu.Unlock()
	for _, answered := range waiting {
		answered(message{ended: err})
	}
}

// Answer answers the request. Each request is answered once.
func (r Request) Answer(ctx context.Context, result json.RawMessage) error {
	return r.conn.write(ctx, r.conn.envelope.answer(r.id, result))
}

// Refuse answers the request with a failure.
func (r Request) Refuse(ctx context.Context, err *Error) error {
	return r.conn.write(ctx, r.conn.envelope.failure(r.id, err))
}
