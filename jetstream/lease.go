package jetstream

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// holdTime is how long the server delivers a job to no other worker, after the last sign of the worker that keeps its
// result.
const holdTime = time.Hour

// lease keeps a job with its worker by telling the server repeatedly that the worker has it.
type lease struct {
	msg         js.Msg
	conn        *nats.Conn
	held        atomic.Bool
	slot        atomic.Pointer[func()] // extends the slot of the job's owner; nil: the job needs none
	done, ended chan struct{}
}

// startLease extends the lease of a job until stop.
func startLease(m js.Msg, conn *nats.Conn, every time.Duration) *lease {
	l := &lease{msg: m, conn: conn, done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-l.done:
				return
			case <-tick.C:
				l.extend()
			}
		}
	}()
	return l
}

func (l *lease) stop() {
	close(l.done)
	<-l.ended
}

// extend tells the server once. If that fails, the next attempt may succeed.
func (l *lease) extend() {
	if slot := l.slot.Load(); slot != nil {
		defer (*slot)()
	}
	if !l.held.Load() {
		_ = l.msg.InProgress()
		return
	}
	// The client counts a refused message as settled, but this one is not.
	_ = l.conn.Publish(l.msg.Reply(), []byte(`-NAK {"delay": `+strconv.FormatInt(int64(holdTime), 10)+`}`))
}

// hold extends the lease by holdTime, now and repeatedly.
func (l *lease) hold() {
	l.held.Store(true)
	l.extend()
}
