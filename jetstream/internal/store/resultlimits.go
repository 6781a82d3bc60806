package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// ResultLimits bound the results of a queue. A zero field means the limit that the queue has, or the default for a
// queue that has none.
type ResultLimits struct {
	Age   time.Duration // the server enforces it
	Bytes int64         // with large payloads; workers enforce it
}

// Defaults for results. A queue keeps less than maxResultBytes if its jobs have less than twice that space.
const (
	maxResultAge   = 30 * 24 * time.Hour
	maxResultBytes = 1 << 30
)

// resultBytes is a key in the metadata of the stream of results: how many bytes these may take. The server does not
// enforce it: it would reserve that space, and so take it from the jobs of every later queue.
const resultBytes = "clichain_result_bytes"

// openResults opens the stream of results and gives it the limits. Clients read it without direct reads, because these
// could come from a server that is behind the leader.
func (s *Store) openResults(ctx context.Context, replicas int, want ResultLimits, mayChange bool) (err error) {
	cfg := js.StreamConfig{
		Name: s.Stream("results"), Subjects: []string{s.subject("result.>")}, Replicas: replicas,
	}
	want.addTo(&cfg, defaultBytes(s.Jobs))
	if s.Results, err = s.stream(ctx, cfg); err != nil {
		return err
	}
	changed := s.Results.CachedInfo().Config
	before := resultLimitsOf(&changed)
	if !mayChange && want == (ResultLimits{}) {
		return nil
	}
	want.addTo(&changed, defaultBytes(s.Jobs))
	if resultLimitsOf(&changed) == before {
		return nil
	}
	if s.Results, err = s.js.UpdateStream(ctx, changed); err != nil {
		return fmt.Errorf("stream %s: change its limits from %v to %v: %w",
			changed.Name, before, resultLimitsOf(&changed), err)
	}
	return nil
}

// addTo sets the limits in a configuration. A limit that is zero there and here gets its default.
func (l ResultLimits) addTo(cfg *js.StreamConfig, defaultBytes int64) {
	has := resultLimitsOf(cfg)
	cfg.MaxAge = cmp.Or(l.Age, has.Age, maxResultAge)
	bytes := cmp.Or(l.Bytes, has.Bytes, defaultBytes)
	cfg.Metadata = maps.Clone(cfg.Metadata)
	if cfg.Metadata == nil {
		cfg.Metadata = map[string]string{}
	}
	cfg.Metadata[resultBytes] = strconv.FormatInt(bytes, 10)
}

// defaultBytes is half of what the jobs in a stream may take, because results share the other half of the store with
// other data.
func defaultBytes(stream js.Stream) int64 {
	jobs := bytesIn(stream.CachedInfo().Config.Metadata, jobBytes)
	if jobs == 0 {
		return maxResultBytes // the size of the store is not known
	}
	return min(jobs/2, maxResultBytes)
}

// bytesIn returns a limit in the metadata of a stream. A missing or unreadable limit counts as none.
func bytesIn(metadata map[string]string, key string) int64 {
	n, _ := strconv.ParseInt(metadata[key], 10, 64)
	return max(n, 0)
}

func resultLimitsOf(cfg *js.StreamConfig) ResultLimits {
	return ResultLimits{cfg.MaxAge, bytesIn(cfg.Metadata, resultBytes)}
}

// String names both limits.
func (l ResultLimits) String() string { return fmt.Sprintf("%v and %d bytes", l.Age, l.Bytes) }
