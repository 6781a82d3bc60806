package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// taker gives the jobs of one class and one priority.
type taker struct {
	js.Consumer
	class    string
	priority Priority
	needs    *needs // of the class; nil: they cannot be read
}

// takers are the consumers of a queue, of which each class has one for each priority that its jobs had. A class is made
// when its first job is submitted or given back; its needs are in the metadata of its consumers.
type takers struct {
	mu     sync.Mutex
	byName map[string]*taker
	order  []*taker  // by priority
	looked time.Time // when the server was last asked for their names
}

const (
	needsKey = "clichain-needs" // of a consumer's metadata
	// maxClasses bounds the consumers of a queue. Jobs of further kinds share a class for each protocol version, and wait
	// for coarsePause after a worker has refused them.
	maxClasses  = 300
	coarsePause = 10 * time.Second
)

func takerName(p Priority, class string) string {
	if class == readyClass {
		return string(p)
	}
	return string(p) + "-" + class
}

func (t *takers) get(name string) *taker {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byName[name]
}

// list has those of a higher priority first.
func (t *takers) list() []*taker {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.order)
}

func (t *takers) add(c js.Consumer) *taker {
	info := c.CachedInfo()
	priority, class, classed := strings.Cut(info.Name, "-")
	added := &taker{Consumer: c, class: class, priority: Priority(priority)}
	if !classed {
		added.class, added.needs = readyClass, &needs{Protocol: firstProtocol}
	} else {
		added.needs = readNeeds(info.Config.Metadata[needsKey])
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.byName[info.Name]; known != nil {
		return known
	}
	t.byName[info.Name] = added
	t.order = append(t.order, added)
	slices.SortStableFunc(t.order, func(a, b *taker) int {
		return slices.Index(priorities, a.priority) - slices.Index(priorities, b.priority)
	})
	return added
}

// readNeeds reads the needs of a class. Of those that a later version wrote, with fields that this one does not know,
// it reads the protocol.
func readNeeds(text string) *needs {
	n := new(needs)
	if json.Unmarshal([]byte(text), n) == nil && n.Protocol > 0 {
		return n
	}
	var some struct{ Protocol int }
	if json.Unmarshal([]byte(text), &some) != nil {
		return nil
	}
	return &needs{Protocol: max(some.Protocol, protocol+1)}
}

// route returns the class of a job, and makes it where there is none.
func (q *Queue) route(ctx context.Context, e *envelope) (class string, err error) {
	class, p := e.class(), e.priority()
	if class == readyClass || q.takers.get(takerName(p, class)) != nil {
		return class, nil
	}
	n := e.needs()
	if err := q.look(ctx); err != nil {
		return "", err
	}
	if len(q.takers.list()) >= q.most {
		n = n.coarse()
		class = n.class()
	}
	return class, q.makeTaker(ctx, p, class, n)
}

// makeTaker makes what workers take the jobs of a class and a priority from. Deliveries are counted here rather than by
// the server, which would leave a job that had too many where it is.
func (q *Queue) makeTaker(ctx context.Context, p Priority, class string, n *needs) error {
	name := takerName(p, class)
	if q.takers.get(name) != nil {
		return nil
	}
	c, err := q.jobs.Consumer(ctx, name)
	if errors.Is(err, js.ErrConsumerNotFound) {
		cfg := js.ConsumerConfig{
			Durable: name, FilterSubject: q.place(class, p, "*"), AckPolicy: js.AckExplicitPolicy,
			AckWait: q.cfg.AckWait, MaxDeliver: -1, MaxAckPending: -1, // workers ask for as much as they have slots
		}
		if n != nil {
			data, _ := json.Marshal(n) // every field is plain
			cfg.Metadata = map[string]string{needsKey: string(data)}
		}
		c, err = q.jobs.CreateOrUpdateConsumer(ctx, cfg)
	}
	if err != nil {
		return fmt.Errorf("consumer %s: %w", name, err)
	}
	q.takers.add(c)
	return nil
}

// look finds the classes that others have made.
func (q *Queue) look(ctx context.Context) error {
	names := q.jobs.ConsumerNames(ctx)
	for name := range names.Name() {
		if q.takers.get(name) != nil {
			continue
		}
		c, err := q.jobs.Consumer(ctx, name)
		if errors.Is(err, js.ErrConsumerNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("consumer %s: %w", name, err)
		}
		q.takers.add(c)
	}
	if err := names.Err(); err != nil {
		return fmt.Errorf("consumers: %w", err)
	}
	q.takers.mu.Lock()
	q.takers.looked = time.Now()
	q.takers.mu.Unlock()
	return nil
}

// lookOften is look, unless it was done within that time.
func (q *Queue) lookOften(ctx context.Context, every time.Duration) error {
	q.takers.mu.Lock()
	fresh := time.Since(q.takers.looked) < every
	q.takers.mu.Unlock()
	if fresh {
		return nil
	}
	return q.look(ctx)
}

// fetch gives jobs of the classes that the worker can run now.
func (w *worker) fetch(ctx context.Context, n int, begin func(js.Msg)) (taken int) {
	every := lookEvery
	if w.newClass.Swap(false) {
		every = 0
	}
	known := len(w.q.takers.list())
	err := w.q.lookOften(ctx, every)
	if err == nil {
		if len(w.q.takers.list()) != known {
			w.change()
		}
		w.turn++
		taken, err = w.q.fetch(n, w.turn, func(t *taker) bool { return w.takes(ctx, t) }, begin)
	}
	trouble := ""
	if err != nil {
		trouble = err.Error()
	}
	if trouble != "" && trouble != w.trouble && ctx.Err() == nil { // a server that is gone is told of once
		w.Logger.WarnContext(ctx, "cannot take jobs", "queue", w.q.cfg.Name, "error", err)
	}
	w.trouble = trouble
	return taken
}

// fetch gives up to n jobs to begin, those of a higher priority first, of the classes that take accepts. Classes of one
// priority take turns, or the jobs of one class would wait for the end of another.
func (q *Queue) fetch(n, turn int, take func(*taker) bool, begin func(js.Msg)) (taken int, err error) {
	list := q.takers.list()
	var lost error
	for _, p := range priorities {
		same := slices.DeleteFunc(slices.Clone(list), func(t *taker) bool { return t.priority != p || !take(t) })
		for i := range same {
			got, err := same[(i+turn)%len(same)].fetch(n-taken, begin)
			taken += got
			if isAny(err, js.ErrConsumerDeleted, js.ErrConsumerNotFound, nats.ErrNoResponders) {
				lost = errors.Join(lost, err) // the other classes go on
				continue
			}
			if err != nil || taken == n {
				return taken, err
			}
		}
	}
	return taken, lost
}

func (t *taker) fetch(n int, begin func(js.Msg)) (taken int, err error) {
	batch, err := t.FetchNoWait(n)
	if err != nil {
		return 0, err
	}
	for m := range batch.Messages() {
		taken++
		begin(m)
	}
	if err := batch.Error(); err != nil && !errors.Is(err, js.ErrNoMessages) {
		return taken, err
	}
	return taken, nil
}
