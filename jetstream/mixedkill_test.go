package jetstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// kindVariable says what kind of worker a worker process is: the models of the jobs that it runs, or "limited".
const kindVariable = "CLICHAIN_TEST_KIND"

var kindModels = map[string][]string{"alpha": {"one", "both"}, "beta": {"two", "both"}, "limited": {"one", "two", "both"}}

// ofKind is the backend of such a worker. The login of the kind "limited" is at its limit for an hour.
func ofKind(kind string) clichain.Backend {
	answer := clichain.BackendFunc("cli", func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
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
			case <-time.After(40 * time.Millisecond): // the work of a CLI, in which it can be killed
				return &clichain.Response{Text: kind}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return nil, &clichain.BackendError{Reason: clichain.ReasonModelMismatch, Stage: call.StageSkipped}
	})
	return clichain.ChainOf([]clichain.Backend{answer}, &clichain.ChainConfig{NoCooldown: kind != "limited"})
}

// Three kinds of workers, one of them at its limit, of which one is killed five times a second; jobs of two protocols, of
// which one in fifty always fails: each job has one result, and each was answered by a worker that has its model.
func TestMixedFleetIsKilled(t *testing.T) {
	s := listen(t)
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, soakConfig)
	var fleets []*fleet
	for kind := range kindModels {
		f := &fleet{t: t, env: append(os.Environ(), workerVariable+"="+s.ClientURL(), kindVariable+"="+kind)}
		for range 2 {
			f.start()
		}
		t.Cleanup(f.stop)
		fleets = append(fleets, f)
	}
	models := []string{"one", "two", "both"}
	for i := range *soakJobs {
		j := job(fmt.Sprint(i))
		j.Request.Model = models[i%3]
		if i%50 == 0 {
			j.Request.Metadata = map[string]string{"poison": "yes"}
		}
		if i%4 != 0 {
			submit(t, q, j)
			continue
		}
		data, err := json.Marshal(j) // as a submitter of the first protocol writes it
		require.NoError(t, err)
		require.NoError(t, jetstream.SubmitRaw(t.Context(), q, j.ID, data))
	}
	began, kills := time.Now(), atomic.Int64{}
	ctx, cancel := context.WithTimeout(t.Context(), limit+time.Duration(*soakJobs)*time.Second)
	defer cancel()
	go func() {
		tick := time.NewTicker(*soakKill / 10)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				fleets[i%len(fleets)].kill()
				kills.Add(1)
			}
		}
	}()
	got := map[string]*jetstream.Result{}
	for r, err := range q.Results(ctx, 0) {
		require.NoError(t, err)
		require.NotContains(t, got, r.ID)
		if got[r.ID] = r; len(got) == *soakJobs {
			break
		}
	}
	require.Len(t, got, *soakJobs)
	t.Logf("%d jobs in %.1f s, %d workers killed", len(got), time.Since(began).Seconds(), kills.Load())
	for i := range *soakJobs {
		r := got[fmt.Sprint(i)]
		if i%50 == 0 {
			require.Equal(t, clichain.ReasonExit, r.Failure.Reason, i)
			continue
		}
		require.NotNil(t, r.Response, "%d: %+v", i, r.Failure)
		require.Contains(t, kindModels[r.Response.Text], models[i%3], i)
	}
}
