package classes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/jetstream/internal/store"
	js "github.com/nats-io/nats.go/jetstream"
)

// MaxConsumers bounds the consumers of a queue. Above it, the jobs of new classes share one class for each protocol
// version and owner, and above twice this number one class for all owners.
const MaxConsumers = 300

// Consumer delivers the jobs of one class and one group.
type Consumer struct {
	js.Consumer
	store.Group
	Class  string
	Needs  *Needs // of the class; nil: unreadable
	Filter string // the subject of its jobs

	state state
}

// Consumers are the consumers of a queue: one for each class and group that its jobs had. A class begins when its first
// job is submitted or returned. The metadata of its consumers has its needs.
type Consumers struct {
	Max     int           // upper bound of their number
	AckWait time.Duration // how long the server waits for a sign of the worker before it delivers a job again

	store      *store.Store
	priorities []string // in the order in which they are taken

	mu        sync.Mutex // also for the state of each consumer
	byName    map[string]*Consumer
	order     []*Consumer // by priority
	refreshed time.Time
	starts    uint64                 // counts the fetches that found a job
	served    map[store.Group]uint64 // the value of starts at the last fetch from an owner, by the priority that counts
}

const needsKey = "clichain-needs" // in a consumer's metadata

// NewConsumers prepares the consumers of a queue. Open opens them.
func NewConsumers(s *store.Store, priorities []string, ackWait time.Duration) *Consumers {
	return &Consumers{
		Max: MaxConsumers, AckWait: ackWait, store: s, priorities: priorities, byName: map[string]*Consumer{},
		served: map[store.Group]uint64{},
	}
}

// Open opens the consumers of the first protocol, creates missing ones, and finds all others. From then on AckWait is
// the value of the queue.
func (c *Consumers) Open(ctx context.Context) error {
	for _, p := range c.priorities {
		group := store.Group{Priority: p}
		if err := c.open(ctx, group, Ready, nil); err != nil {
			return err
		}
		c.AckWait = c.Get(Ready, group).CachedInfo().Config.AckWait
	}
	return c.Refresh(ctx)
}

// Get returns the consumer of a class and group; nil if it is not known.
func (c *Consumers) Get(class string, g store.Group) *Consumer {
	if own := c.Named(store.ConsumerName(class, g)); own != nil {
		return own
	}
	shared := c.Named(store.ConsumerName(class, store.Group{Priority: g.Priority, Owner: store.AnyOwner}))
	if shared == nil || shared.Owner != store.AnyOwner {
		return nil
	}
	return shared
}

// Named returns the consumer with a name; nil if it is not known.
func (c *Consumers) Named(name string) *Consumer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name]
}

// NeedsOf returns the needs of a class; nil if they are not known.
func (c *Consumers) NeedsOf(class string, g store.Group) *Needs {
	if consumer := c.Get(class, g); consumer != nil {
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
	added := &Consumer{Consumer: from, Filter: info.Config.FilterSubject, Needs: &Needs{Protocol: FirstProtocol}}
	added.Class, added.Group, _ = c.store.Place(added.Filter)
	if added.Class != Ready {
		added.Needs = parseNeeds(info.Config.Metadata[needsKey])
	}
	if added.Needs != nil && added.Needs.Shared != "" {
		added.Group = store.Group{Priority: added.Needs.Shared, Owner: store.AnyOwner}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName[info.Name] != nil {
		return
	}
	added.state.woken = time.Now()
	c.byName[info.Name] = added
	c.order = append(c.order, added)
	slices.SortStableFunc(c.order, func(a, b *Consumer) int {
		return slices.Index(c.priorities, a.Priority) - slices.Index(c.priorities, b.Priority)
	})
}

// Route returns the class in which a job of the wanted class waits, and creates its consumer if it does not exist. If
// the queue has too many consumers, it returns a coarser class.
func (c *Consumers) Route(ctx context.Context, class string, g store.Group, needs *Needs) (string, error) {
	if class == Ready || c.Get(class, g) != nil {
		return class, nil
	}
	if err := c.Refresh(ctx); err != nil {
		return "", err
	}
	n := len(c.List())
	if n >= c.Max {
		needs = needs.coarse()
		class = needs.Class()
	}
	if n >= 2*c.Max && g.Owner != "" && c.Get(class, g) == nil {
		g.Owner = store.AnyOwner
		needs = needs.shared(g.Priority)
		class = needs.Class()
	}
	return class, c.open(ctx, g, class, needs)
}

// open opens a consumer, and creates it if it does not exist. The workers count deliveries, because the server would
// leave a job with too many deliveries in the stream.
func (c *Consumers) open(ctx context.Context, g store.Group, class string, needs *Needs) error {
	name := store.ConsumerName(class, g)
	if c.Named(name) != nil {
		return nil
	}
	consumer, err := c.store.Jobs.Consumer(ctx, name)
	if errors.Is(err, js.ErrConsumerNotFound) {
		cfg := js.ConsumerConfig{
			Durable: name, FilterSubject: c.store.JobSubject(class, g, "*"), AckPolicy: js.AckExplicitPolicy,
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
