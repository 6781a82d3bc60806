package jetstream

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clichain/clichain/jetstream/internal/store"
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

// subscribe listens to the announcements of submitters and operators.
func (w *worker) subscribe() (end func(), err error) {
	wakes, err := w.q.store.Conn.Subscribe(w.q.store.Wake(), func(m *nats.Msg) {
		if len(m.Data) > 0 && !w.q.consumers.Wake(string(m.Data)) {
			w.newClass.Store(true)
		}
		w.wakeUp()
	})
	if err != nil {
		return nil, err
	}
	stops, err := w.q.store.Conn.Subscribe(w.q.store.Stop(), func(m *nats.Msg) { w.watches.check(string(m.Data)) })
	if err != nil {
		_ = wakes.Unsubscribe()
		return nil, err
	}
	return func() {
		_ = wakes.Unsubscribe()
		_ = stops.Unsubscribe()
	}, nil
}

// watches are the jobs that a worker runs, by key. A value in the channel makes the worker check the job at once.
type watches struct {
	mu   sync.Mutex
	jobs map[string]chan struct{}
}

func (s *watches) add(key string) (check chan struct{}) {
	check = make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs == nil {
		s.jobs = map[string]chan struct{}{}
	}
	s.jobs[key] = check
	return check
}

func (s *watches) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, key)
}

// check makes the worker check a job, if it runs it.
func (s *watches) check(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.jobs[key] <- struct{}{}:
	default:
	}
}

// watch returns the context in which a job runs, and a func that must be called afterwards. Until then it looks for
// changes of the job by operators: when an operator announces one, and as often as the lease is extended.
func (w *worker) watch(ctx context.Context, d *delivery) (run context.Context, end func()) {
	run, stop := context.WithCancelCause(ctx)
	check := w.watches.add(d.key)
	var done sync.WaitGroup
	done.Go(func() {
		every := w.q.consumers.AckWait / 3
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-run.Done():
				return
			case <-check:
			case <-tick.C:
			}
			look, cancel := context.WithTimeout(run, every)
			canceled, err := w.look(look, d)
			cancel()
			if canceled {
				stop(errStopped)
			}
			if err != nil && run.Err() == nil {
				w.Logger.DebugContext(run, "cannot check a running job", "id", d.ID, "error", err)
			}
		}
	})
	return run, func() {
		stop(nil)
		done.Wait()
		w.watches.remove(d.key)
	}
}

// look reports whether the job was canceled. If an operator began to move it, the new message waits until the job ends.
func (w *worker) look(ctx context.Context, d *delivery) (canceled bool, err error) {
	result, err := w.q.store.LastResult(ctx, d.key)
	if err != nil || result != nil && isCanceled(result) {
		return err == nil, err
	}
	newest, err := w.q.store.LastJob(ctx, d.key)
	if err != nil || newest == nil || newest.Sequence == d.sequence || store.Due(newest).IsZero() {
		return false, err
	}
	d.moved = true
	err = store.Hold(ctx, w.q.store, newest, d.key, time.Now().Add(w.q.consumers.AckWait))
	if errors.Is(err, ErrExists) {
		return false, nil
	}
	return false, err
}

// stopped removes a canceled job, which has its result.
func (w *worker) stopped(d *delivery) {
	w.Logger.InfoContext(w.write.ctx, "a job was canceled by an operator", "id", d.ID)
	if d.mayAct() {
		w.unmark(d)
	}
	w.acknowledge(d)
}

// settledMove decides about the first delivery of a job that was parked. An interrupted Move may have left an older
// message. It returns true if the job waits on, because a worker may have the older message.
func (w *worker) settledMove(d *delivery) (bool, error) {
	older, err := store.OldestJob(w.write.ctx, w.q.store, d.key)
	if err != nil || older == nil || older.Sequence == d.sequence {
		return false, err
	}
	gone, err := NewOperator(w.q).removeOld(w.write.ctx, older)
	if err != nil || gone {
		return false, err
	}
	err = w.q.replaceJob(w.write.ctx, &d.envelope, d.sequence, time.Now().Add(w.q.consumers.AckWait))
	if errors.Is(err, ErrExists) {
		return true, nil
	}
	return err == nil, err
}

// forgetMoved removes the parked message of a job that was moved while it ran, and that has a result now.
func (w *worker) forgetMoved(d *delivery) {
	parked, err := w.q.store.LastJob(w.write.ctx, d.key)
	if err == nil && parked != nil && parked.Sequence != d.sequence && !store.Due(parked).IsZero() {
		err = w.q.store.RemoveJob(w.write.ctx, parked)
	}
	if err != nil { // the worker that gets it finds the result
		w.Logger.DebugContext(w.write.ctx, "cannot remove the old place of a job", "id", d.ID, "error", err)
	}
}
