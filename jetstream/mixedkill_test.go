package jetstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// kindVariable is the environment variable with the kind of a worker process: the models of its jobs, or "limited".
const kindVariable = "CLICHAIN_TEST_KIND"

var kindModels = map[string][]string{"alpha": {"one", "both"}, "beta": {"two", "both"}, "limited": {"one", "two", "both"}}

// ofKind returns the backend of such a worker. The login of the kind "limited" is at its limit for an hour.
func ofKind(kind string) clichain.Backend {
	note := newNotes()
	answer := clichain.BackendFunc("cli", func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		id := strings.TrimPrefix(req.Messages[0].Content, "prompt of ")
		note("start", kind, id)
		defer note("end", kind, id)
		for _, model := range kindModels[kind] {
			switch {
			case req.Model != model:
				continue
			case kind == "limited":
				return nil, &clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(time.Hour), Stage: call.StageStarted}
			case req.Metadata["poison"] != "":
				return nil, &clichain.BackendError{Reason: clichain.ReasonExit, Stage: call.StageStarted}
			}
			select {
			case <-time.After(40 * time.Millisecond): // the run of a CLI, during which it can be killed
				return &clichain.Response{Text: kind}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return nil, &clichain.BackendError{Reason: clichain.ReasonModelMismatch, Stage: call.StageSkipped}
	})
	return clichain.ChainOf([]clichain.Backend{answer}, &clichain.ChainConfig{NoCooldown: kind != "limited"})
}

// Three kinds of workers, one of them at its limit, are killed five times a second, with jobs of two protocols, of
// which one in fifty always fails. Each job has one result, from a worker that has its model. With -outages the
// cluster also loses one server after another.
func TestMixedFleetIsKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	q := c.open(c.connect(), &jetstream.Config{Name: soakConfig.Name, AckWait: time.Second, MaxDeliver: 20, Replicas: 3})
	notes := t.TempDir()
	var fleets []*fleet
	for kind := range kindModels {
		f := &fleet{t: t, env: append(os.Environ(),
			workerVariable+"="+c.urls(), kindVariable+"="+kind, notesVariable+"="+notes, "XDG_STATE_HOME="+t.TempDir())}
		for range 2 {
			f.start()
		}
		t.Cleanup(f.stop)
		fleets = append(fleets, f)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 2*limit+2*time.Duration(*soakJobs)*time.Second)
	defer cancel()
	submitted := make(chan map[string]time.Time, 1)
	go func() { submitted <- submitMixed(ctx, q) }()
	var chaos sync.WaitGroup
	defer chaos.Wait()
	ends, end := context.WithCancel(ctx)
	defer end()
	kills, outages := 0, []span{}
	chaos.Go(func() {
		every(ends, *soakKill/10, func(i int) { fleets[i%len(fleets)].kill(); kills++ })
	})
	if *soakOutages > 0 {
		chaos.Go(func() {
			every(ends, *soakOutages, func(i int) { outages = append(outages, c.outage(ends, q, i)) })
		})
	}
	got := map[string]*jetstream.Result{}
	for r, err := range q.Results(ctx, 0) {
		require.NoError(t, err)
		require.NotContains(t, got, r.ID)
		if got[r.ID] = r; len(got) == *soakJobs {
			break
		}
	}
	end()
	chaos.Wait()
	require.Len(t, got, *soakJobs)
	for i := range *soakJobs {
		r := got[fmt.Sprint(i)]
		if i%50 == 0 {
			require.Equal(t, clichain.ReasonExit, r.Failure.Reason, i)
			continue
		}
		require.NotNil(t, r.Response, "%d: %+v", i, r.Failure)
		require.Contains(t, kindModels[r.Response.Text], models[i%3], i)
	}
	idle, who := longestIdle(t, notes, <-submitted, outages)
	lost := time.Duration(0)
	for _, o := range outages {
		lost += o.length()
	}
	t.Logf("%d jobs in %.1f s, %d workers killed, %d servers lost for %.1f s, idle beside a job for %.2f s at most (%s)",
		len(got), time.Since(began).Seconds(), kills, len(outages), lost.Seconds(), idle.Seconds(), who)
	require.LessOrEqual(t, idle, *soakIdle)
}

// models are the models of the jobs, in turn.
var models = []string{"one", "two", "both"}

// submitMixed submits jobs, every fourth of them in the form of the first protocol. It returns when each job was
// submitted.
func submitMixed(ctx context.Context, q *jetstream.Queue) map[string]time.Time {
	at := map[string]time.Time{}
	for i := range *soakJobs {
		j := job(fmt.Sprint(i))
		j.Request.Model = models[i%3]
		if i%50 == 0 {
			j.Request.Metadata = map[string]string{"poison": "yes"}
		}
		submit := q.Submit
		if i%4 == 0 {
			submit = func(ctx context.Context, j jetstream.Job) error {
				data, err := json.Marshal(j)
				if err == nil {
					err = jetstream.SubmitRaw(ctx, q, j.ID, data)
				}
				return err
			}
		}
		for err := errors.New("not yet"); err != nil && !errors.Is(err, jetstream.ErrExists) && ctx.Err() == nil; {
			try, cancel := context.WithTimeout(ctx, 2*time.Second)
			err = submit(try, j)
			cancel()
		}
		at[j.ID] = time.Now()
	}
	return at
}

// every calls do repeatedly until ctx ends.
func every(ctx context.Context, pause time.Duration, do func(i int)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do(i)
		}
	}
}
