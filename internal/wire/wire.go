// Package wire exchanges lines of JSON with a CLI that stays running: requests and responses in both directions, and
// notices. It formats messages and matches responses to requests, but does not interpret them. It starts no process and
// stores no content.
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

// Conn is a connection to one process. Set the functions before the first line. It is safe for concurrent use.
type Conn struct {
	// Send writes a line, which has no line break yet. It may wait until ctx is done.
	Send func(ctx context.Context, line []byte) error
	// Noticed receives each line that is neither a response nor a request, with the name of the notice. The line is
	// valid only during the call. Noticed may block; the process then waits and no line is lost.
	Noticed func(method string, line []byte)
	// Asked receives a request of the CLI. It must not block, and must ensure that the request is answered later. It
	// returns false for an unknown request, which Conn then refuses immediately.
	Asked func(Request) (known bool)

	envelope envelope

	mu      sync.Mutex
	last    int                      // number of the last request sent
	waiting map[string]func(message) // functions that receive the responses, by the id of the request
	ended   error                    // set when no more responses come
}

// Request is a request of the CLI, which waits for the answer.
type Request struct {
	Method string
	Params json.RawMessage // nil if there are none
	id     json.RawMessage
	conn   *Conn
}

// Error is a response that reports a failure.
type Error struct {
	Code    int // of JSON-RPC; 0 if there is none
	Message string
	Data    json.RawMessage // nil if there is none
}

// Error returns the message, with the code if there is one.
func (e *Error) Error() string {
	if e.Code == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (%d)", e.Message, e.Code)
}

// refuseTime is the maximum wait for Send when Conn refuses a request.
const refuseTime = 5 * time.Second

// MethodNotFound is the error code for an unknown request.
const MethodNotFound = -32601

// New returns a Conn that uses the named envelope.
func New(e clispec.LiveEnvelope) *Conn {
	return &Conn{envelope: envelopes[e], waiting: map[string]func(message){}}
}

// Call sends a request and waits for its response. The error is an [*Error] if the CLI refuses the request; otherwise
// it is the error of ctx or of End.
func (c *Conn) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	type reply struct {
		result json.RawMessage
		err    error
	}
	answered := make(chan reply, 1) // buffered, so that the reader never waits
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

// Ask sends a request. It calls then once, with the response or with an error like that of Call. These calls are in
// order with the lines around the response, so then must not wait for a later line. Call forget to drop the response.
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
			return func() {}, nil // End has called then
		}
		return nil, err
	}
	return func() { c.take(c.envelope.id(n)) }, nil
}

// expect returns the number of a new request and registers the function that receives its response.
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

// take removes and returns the function that waits for a response, nil if there is none.
func (c *Conn) take(id string) func(message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answered := c.waiting[id]
	delete(c.waiting, id)
	return answered
}

// Notify sends a message without a response.
func (c *Conn) Notify(ctx context.Context, method string, params json.RawMessage) error {
	return c.write(ctx, c.envelope.notice(method, params))
}

func (c *Conn) write(ctx context.Context, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a message as JSON: %w", err)
	}
	return c.Send(ctx, line)
}

// Line processes a line of the CLI. Only one goroutine may call it. It returns false for a line that is not a JSON
// object.
func (c *Conn) Line(line []byte) bool {
	root, ok := jsontext.ParseObject(line)
	if !ok {
		return false
	}
	switch m := c.envelope.read(root); m.kind {
	case response:
		if answered := c.take(m.id); answered != nil { // else the caller has dropped it, or it is a duplicate
			answered(m)
		}
	case request:
		asked := Request{m.method, m.body, json.RawMessage(strings.Clone(m.id)), c}
		if c.Asked == nil || !c.Asked(asked) {
			// A process that does not read while it waits for our answer would block forever.
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

// ErrEnded is the error of a Conn whose process has ended.
var ErrEnded = errors.New("the process has ended")

// End fails all requests that wait for a response, and all later calls, with err. A nil err means [ErrEnded]. Only the
// first call of End has an effect.
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

// Answer answers the request with a result. Answer each request once.
func (r Request) Answer(ctx context.Context, result json.RawMessage) error {
	return r.conn.write(ctx, r.conn.envelope.answer(r.id, result))
}

// Refuse answers the request with an error.
func (r Request) Refuse(ctx context.Context, err *Error) error {
	return r.conn.write(ctx, r.conn.envelope.failure(r.id, err))
}
