package classes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// MaxConsumers bounds the consumers of a queue. If there are more classes, their jobs share one class for each
// protocol version.
const MaxConsumers = 300

// Consumer delivers the jobs of one class and one priority.
type Consumer struct {
	js.Consumer
	Class    string
	Priority string
	Needs    *Needs // of the class; nil: unreadable
}

// Consumers are the consumers of a queue: one for each class and priority that its jobs had. A class begins when its
// first job is submitted or returned. The metadata of its consumers has its needs.
type Consumers struct {
	Max     int           // upper bound of their number
	AckWait time.Duration // how long the server waits for a sign of the worker before it delivers a job again

	store      *store.Store
	priorities []string // in the order in which they are taken

	mu        sync.Mutex
	byName    map[string]*Consumer
	order     []*Consumer // by priority
	refreshed time.Time
}

const needsKey = "clichain-needs" // in a consumer's metadata

// NewConsumers prepares the consumers of a queue. Open opens them.
func NewConsumers(s *store.Store, priorities []string, ackWait time.Duration) *Consumers {
	return &Consumers{
		Max: MaxConsumers, AckWait: ackWait, store: s, priorities: priorities, byName: map[string]*Consumer{},
	}
}

// Open opens the consumers of the first protocol, creates missing ones, and finds all others. From then on AckWait is
// the value of the queue.
func (c *Consumers) Open(ctx context.Context) error {
	for _, p := range c.priorities {
		if err := c.open(ctx, p, Ready, nil); err != nil {
			return err
		}
		c.AckWait = c.Get(Ready, p).CachedInfo().Config.AckWait
	}
	return c.Refresh(ctx)
}

// Get returns the consumer of a class and priority; nil if it is not known.
func (c *Consumers) Get(class, priority string) *Consumer {
	return c.Named(store.ConsumerName(class, priority))
}

// Named returns the consumer with a name; nil if it is not known.
func (c *Consumers) Named(name string) *Consumer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name]
}

// NeedsOf returns the needs of a class; nil if they are not known.
func (c *Consumers) NeedsOf(class, priority string) *Needs {
	if consumer := c.Get(class, priority); consumer != nil {
		return consumer.Needs
	}
	return nil
}

// List returns the known consumers, higher priorities first.
func (c *Consumers) List() []*Consumer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.order)
}

func (c *Consumers) add(from js.Consumer) {
	info := from.CachedInfo()
	priority, class, classed := strings.Cut(info.Name, "-")
	added := &Consumer{Consumer: from, Class: Ready, Priority: priority, Needs: &Needs{Protocol: FirstProtocol}}
	if classed {
		added.Class, added.Needs = class, parseNeeds(info.Config.Metadata[needsKey])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName[info.Name] != nil {
		return
	}
	c.byName[info.Name] = added
	c.order = append(c.order, added)
	slices.SortStableFunc(c.order, func(a, b *Consumer) int {
		return slices.Index(c.priorities, a.Priority) - slices.Index(c.priorities, b.Priority)
	})
}

// Route returns the class in which a job of the wanted class waits, and creates its consumer if it does not exist. If
// the queue has too many consumers, it returns a coarser class.
func (c *Consumers) Route(ctx context.Context, class, priority string, needs *Needs) (string, error) {
	if class == Ready || c.Get(class, priority) != nil {
		return class, nil
	}
	if err := c.Refresh(ctx); err != nil {
		return "", err
	}
	if len(c.List()) >= c.Max {
		needs = needs.coarse()
		class = needs.Class()
	}
	return class, c.open(ctx, priority, class, needs)
}

// open opens a consumer, and creates it if it does not exist. The workers count deliveries, because the server would
// leave a job with too many deliveries in the stream.
func (c *Consumers) open(ctx context.Context, priority, class string, needs *Needs) error {
	name := store.ConsumerName(class, priority)
	if c.Named(name) != nil {
		return nil
	}
	consumer, err := c.store.Jobs.Consumer(ctx, name)
	if errors.Is(err, js.ErrConsumerNotFound) {
		cfg := js.ConsumerConfig{
			Durable: name, FilterSubject: c.store.JobSubject(class, priority, "*"), AckPolicy: js.AckExplicitPolicy,
			AckWait: c.AckWait, MaxDeliver: -1, MaxAckPending: -1, // workers request as many jobs as they have free slots
		}
		if needs != nil {
			data, _ := json.Marshal(needs) // plain fields cannot fail
			cfg.Metadata = map[string]string{needsKey: string(data)}
		}
		consumer, err = c.store.Jobs.CreateOrUpdateConsumer(ctx, cfg)
	}
	if err != nil {
		return fmt.Errorf("consumer %s: %w", name, err)
	}
	c.add(consumer)
	return nil
}

// Refresh finds the consumers that other clients have created.
func (c *Consumers) Refresh(ctx context.Context) error {
	names := c.store.Jobs.ConsumerNames(ctx)
	for name := range names.Name() {
		if c.Named(name) != nil {
			continue
		}
		consumer, err := c.store.Jobs.Consumer(ctx, name)
		if errors.Is(err, js.ErrConsumerNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("consumer %s: %w", name, err)
		}
		c.add(consumer)
	}
	if err := names.Err(); err != nil {
		return fmt.Errorf("consumers: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refreshed = time.Now()
	return nil
}

// RefreshAfter refreshes, unless the last refresh is younger than age.
func (c *Consumers) RefreshAfter(ctx context.Context, age time.Duration) error {
	c.mu.Lock()
	fresh := time.Since(c.refreshed) < age
	c.mu.Unlock()
	if fresh {
		return nil
	}
	return c.Refresh(ctx)
}

// Fetch takes up to n jobs from the consumers that accept selects, higher priorities first, and calls begin for each.
// Classes of one priority take turns; otherwise the jobs of one class would wait until another class is empty.
func (c *Consumers) Fetch(n, turn int, accept func(*Consumer) bool, begin func(js.Msg)) (taken int, err error) {
	list := c.List()
	var missing error
	for _, p := range c.priorities {
		same := slices.DeleteFunc(slices.Clone(list), func(t *Consumer) bool { return t.Priority != p || !accept(t) })
		for i := range same {
			got, err := same[(i+turn)%len(same)].fetch(n-taken, begin)
			taken += got
			if jsapi.IsAny(err, js.ErrConsumerDeleted, js.ErrConsumerNotFound, nats.ErrNoResponders) {
				missing = errors.Join(missing, err) // the other classes are still taken
				continue
			}
			if err != nil || taken == n {
				return taken, err
			}
		}
	}
	return taken, missing
}

func (c *Consumer) fetch(n int, begin func(js.Msg)) (taken int, err error) {
	batch, err := c.FetchNoWait(n)
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
