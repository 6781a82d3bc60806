package jetstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// roles is a server with the configuration of deploy/nats.
type roles struct {
	*server.Server
	violations chan error
}

func listenWithRoles(t *testing.T) *roles {
	t.Helper()
	for _, user := range []string{"OPERATOR", "WORKER", "ALICE", "RESEARCH", "SYS"} {
		t.Setenv(user+"_PASSWORD", "x")
	}
	t.Setenv("NATS_NAME", "alpha")
	t.Setenv("NATS_LISTEN", "127.0.0.1:-1")
	t.Setenv("NATS_STORE", t.TempDir())
	config, err := filepath.Abs(filepath.Join("..", "deploy", "nats", "server.conf"))
	require.NoError(t, err)
	s := listen(t, func(o *server.Options) {
		o.StoreDir = "" // of the file
		require.NoError(t, o.ProcessConfigFile(config))
		require.True(t, o.SyncAlways)
	})
	return &roles{s, make(chan error, 1000)}
}

// connect logs in as a user. The server reports a violation to the connection that commits it.
func (r *roles) connect(t *testing.T, user string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(r.ClientURL(), nats.UserInfo(user, "x"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.violations <- err }))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

func (r *roles) requireNoViolation(t *testing.T) {
	t.Helper()
	select {
	case err := <-r.violations:
		require.NoError(t, err)
	default:
	}
}

// limitedOnce answers as echo does, but its first call of a job "limited" meets a limit.
func limitedOnce() clichain.Backend {
	var met atomic.Bool
	return backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		if req.Messages[0].Content == "prompt of limited" && !met.Swap(true) {
			return nil, &clichain.BackendError{
				Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(time.Second), Stage: call.StageStarted,
			}
		}
		return echo().Complete(ctx, req)
	})
}

// Each role of deploy/nats can do its work: jobs of each kind get their results, and the fleet shares its cooldowns and
// keeps the limits of owners.
func TestRolesDoTheirWork(t *testing.T) {
	r := listenWithRoles(t)
	operator := open(t, r.connect(t, "operator"), nil)
	openCooldowns(t, r.connect(t, "operator"))
	limitOwners(t, operator, map[string]jetstream.OwnerLimits{
		"alice": {Running: 1, Queued: 3, CostUSD: 1, Priority: jetstream.PriorityNormal},
	})

	nc := r.connect(t, "worker")
	worker, cooldowns := open(t, nc, nil), openCooldowns(t, nc)
	chain := clichain.ChainOf([]clichain.Backend{limitedOnce()}, &clichain.ChainConfig{Store: cooldowns})
	work(t, worker, chain, &jetstream.WorkConfig{Permissions: permit.Permissions{Access: clichain.AccessWrite}})

	submitter := open(t, r.connect(t, "alice"), nil)
	low := owned("low", "alice")
	low.Priority = jetstream.PriorityLow
	submit(t, submitter, owned("own", "alice"), low, owned("limited", "alice"))
	large, acts := job("large"), job("acts")
	large.Request = clichain.Prompt(strings.Repeat("x", 600<<10))
	acts.Request.Access = clichain.AccessWrite
	submit(t, operator, large, acts)
	got := collect(t, operator, 5)
	require.Equal(t, "alice", got["own"].Owner)
	require.Len(t, got["limited"].History, 1)
	require.Len(t, got["large"].Response.Text, 600<<10+len("echo "))
	marked, err := jetstream.Marked(t.Context(), operator, acts)
	require.NoError(t, err)
	require.False(t, marked)
	result, err := submitter.Result(t.Context(), "low")
	require.NoError(t, err)
	require.Equal(t, "echo prompt of low", result.Response.Text)

	status, err := operator.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Workers, 1)
	require.True(t, status.Workers[0].Alive)
	r.requireNoViolation(t)
}

// act is a request to the server, with the subject and the data.
type act struct{ name, subject, data string }

// forbidden has the acts that the server refuses to a role. An operator can do them, in this order.
var forbidden = map[string][]act{
	"worker": {
		{"change the limit of the jobs", "$JS.API.STREAM.UPDATE.clichain_default_jobs", ""},
		{"purge the jobs", "$JS.API.STREAM.PURGE.clichain_default_jobs", ""},
		{"purge the cooldowns", "$JS.API.STREAM.PURGE.KV_clichain_cooldowns", ""},
		{"create a stream", "$JS.API.STREAM.CREATE.other", `{"name":"other","subjects":["other"],"storage":"memory"}`},
		{"delete a consumer of jobs", "$JS.API.CONSUMER.DELETE.clichain_default_jobs.low", ""},
		{"set limits of owners", "clichain.default.limits", "{}"},
		{"delete the limits of owners", "$JS.API.STREAM.DELETE.clichain_default_limits", ""},
		{"purge the usage of owners", "$JS.API.STREAM.PURGE.clichain_default_used", ""},
		{"delete the jobs", "$JS.API.STREAM.DELETE.clichain_default_jobs", ""},
		{"delete the results", "$JS.API.STREAM.DELETE.clichain_default_results", ""},
		{"delete the payloads", "$JS.API.STREAM.DELETE.OBJ_clichain_default_payloads", ""},
		{"delete the cooldowns", "$JS.API.STREAM.DELETE.KV_clichain_cooldowns", ""},
	},
	"alice": {
		{"submit for another owner", "clichain.default.job.ready.normal@bob.1", "{}"},
		{"submit with a high priority", "clichain.default.job.ready.high@alice.2", "{}"},
		{"store a result", "clichain.default.result.answered.1", "{}"},
		{"remove a mark", "clichain.default.mark.1", "{}"},
		{"write a cooldown", "$KV.clichain_cooldowns.claude", "{}"},
		{"change the limit of the jobs", "$JS.API.STREAM.UPDATE.clichain_default_jobs", ""},
		{"set limits of owners", "clichain.default.limits", "{}"},
		{"take a slot of an owner", "clichain.default.running.@bob.0", ""},
		{"change the limits of owners", "$JS.API.STREAM.MSG.DELETE.clichain_default_limits", `{"seq":2}`},
		{"take a job", "$JS.API.CONSUMER.MSG.NEXT.clichain_default_jobs.normal", ""},
		{"read all results", "$JS.API.CONSUMER.CREATE.clichain_default_results",
			`{"stream_name":"clichain_default_results","config":{"ack_policy":"none","deliver_policy":"all"}}`},
		{"remove a job", "$JS.API.STREAM.MSG.DELETE.clichain_default_jobs", `{"seq":1}`},
		{"remove a result", "$JS.API.STREAM.MSG.DELETE.clichain_default_results", `{"seq":1}`},
		{"purge the jobs", "$JS.API.STREAM.PURGE.clichain_default_jobs", ""},
		{"purge the results", "$JS.API.STREAM.PURGE.clichain_default_results", ""},
		{"delete the jobs", "$JS.API.STREAM.DELETE.clichain_default_jobs", ""},
	},
}

// The server refuses each forbidden act, and the same act of an operator succeeds, so that no act is misspelled.
func TestRolesAreLimited(t *testing.T) {
	for user, acts := range forbidden {
		t.Run(user, func(t *testing.T) {
			r := listenWithRoles(t)
			operator := r.connect(t, "operator")
			q := open(t, operator, nil)
			openCooldowns(t, operator)
			limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {Running: 2}})
			submit(t, q, job("1"))
			work(t, q, echo(), nil)
			collect(t, q, 1)
			nc := r.connect(t, user)
			for _, a := range acts {
				if strings.Contains(a.subject, ".UPDATE.") {
					a.data = jobsConfig(t, operator)
				}
				require.NoError(t, nc.Publish(a.subject, []byte(a.data)))
				require.NoError(t, nc.Flush())
				select {
				case err := <-r.violations:
					require.ErrorIs(t, err, nats.ErrPermissionViolation, a.name)
				case <-time.After(limit):
					require.Fail(t, "the server permits it", a.name)
				}
				r.permits(t, operator, a)
			}
		})
	}
}

// jobsConfig returns the configuration of the stream of jobs with another limit of the jobs.
func jobsConfig(t *testing.T, nc *nats.Conn) string {
	t.Helper()
	client, err := js.New(nc)
	require.NoError(t, err)
	jobs, err := client.Stream(t.Context(), "clichain_default_jobs")
	require.NoError(t, err)
	cfg := jobs.CachedInfo().Config
	cfg.Metadata["clichain_job_bytes"] = "1"
	data, err := json.Marshal(cfg)
	require.NoError(t, err)
	return string(data)
}

// permits does an act as a user that may do it.
func (r *roles) permits(t *testing.T, nc *nats.Conn, a act) {
	t.Helper()
	if strings.Contains(a.subject, "MSG.NEXT") {
		return // the reply is a job, or nothing
	}
	reply, err := nc.Request(a.subject, []byte(a.data), limit)
	require.NoError(t, err, a.name)
	var answer struct {
		Error any `json:"error"`
	}
	require.NoError(t, json.Unmarshal(reply.Data, &answer), "%s: %s", a.name, reply.Data)
	require.Nil(t, answer.Error, a.name)
}

// The users of one account do not see the queues of another, even of the same name.
func TestAccountsAreSeparate(t *testing.T) {
	r := listenWithRoles(t)
	submit(t, open(t, r.connect(t, "operator"), nil), job("1"))
	_, err := jetstream.Open(t.Context(), r.connect(t, "research"), &jetstream.Config{MustExist: true})
	missing, ok := errors.AsType[*jetstream.NoQueueError](err)
	require.True(t, ok, err)
	require.Empty(t, missing.Queues)
}
