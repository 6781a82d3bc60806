package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// cluster is three servers in this process, each with its own directory.
type cluster struct {
	t       *testing.T
	options [3]*server.Options
	servers [3]*server.Server
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := newStoppedCluster(t)
	for i := range c.options {
		c.start(i)
	}
	return c
}

// newStoppedCluster returns a cluster whose servers have not started.
func newStoppedCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t}
	var routes []*url.URL
	for i := range c.options {
		route := freePort(t)
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", route)})
		c.options[i] = &server.Options{
			ServerName: fmt.Sprintf("server-%d", i), Host: "127.0.0.1", Port: freePort(t), JetStream: true, StoreDir: t.TempDir(),
			NoSigs: true, NoLog: true,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: route},
		}
	}
	for _, o := range c.options {
		o.Routes = routes
	}
	t.Cleanup(func() {
		for i, s := range c.servers {
			if s != nil {
				c.stop(i)
			}
		}
	})
	return c
}

var nextPort atomic.Int64

// freePort returns a port below the range that systems assign to listeners, so that no other test gets it before its
// server starts or while the server is stopped.
func freePort(t *testing.T) int {
	t.Helper()
	for {
		port := 20000 + (os.Getpid()*16+int(nextPort.Add(1)))%12000
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
}

func (c *cluster) start(i int) {
	o := *c.options[i]
	s, err := server.NewServer(&o)
	require.NoError(c.t, err)
	s.Start()
	require.True(c.t, s.ReadyForConnections(limit))
	c.servers[i] = s
}

func (c *cluster) stop(i int) {
	c.servers[i].Shutdown()
	c.servers[i].WaitForShutdown()
}

func (c *cluster) connect() *nats.Conn {
	nc, err := nats.Connect(c.urls(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	require.NoError(c.t, err)
	c.t.Cleanup(nc.Close)
	return nc
}

// open waits until the cluster has a leader.
func (c *cluster) open(nc *nats.Conn, cfg *jetstream.Config) (q *jetstream.Queue) {
	require.Eventually(c.t, func() (ok bool) {
		ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
		defer cancel()
		var err error
		q, err = jetstream.Open(ctx, nc, cfg)
		return err == nil
	}, limit, 100*time.Millisecond)
	return q
}

// leader returns which server leads the stream of jobs.
func (c *cluster) leader(q *jetstream.Queue) int {
	name := jetstream.Leader(c.t.Context(), q)
	for i, o := range c.options {
		if o.ServerName == name {
			return i
		}
	}
	require.Fail(c.t, "no leader", name)
	return -1
}

// current waits until each of the three servers has the whole queue.
func (c *cluster) current(q *jetstream.Queue) {
	require.Eventually(c.t, func() bool { return jetstream.Current(c.t.Context(), q) == 3 }, 3*limit, 100*time.Millisecond)
}

// The cluster loses the leader of the jobs, and then the store of one server, while jobs are submitted and answered.
// All acknowledged writes are still there.
func TestClusterLosesServers(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	q := c.open(c.connect(), &jetstream.Config{Replicas: 3, AckWait: 3 * time.Second, MaxDeliver: 50})
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, s.Servers)
	require.Empty(t, s.Warnings)
	work(t, c.open(c.connect(), nil), noCooldown(echo()), &jetstream.WorkConfig{Slots: 2})

	const third = 150
	acknowledged := map[string]bool{}
	add := func(part int) {
		for i := range third {
			id := fmt.Sprintf("%d-%d", part, i)
			submitSurely(t, q, id)
			acknowledged[id] = true
		}
	}
	add(0)
	lost := c.leader(q)
	c.stop(lost)
	add(1)
	c.start(lost)
	c.current(q)

	wiped := (lost + 1) % 3
	c.stop(wiped)
	require.NoError(t, os.RemoveAll(c.options[wiped].StoreDir))
	c.start(wiped)
	add(2)
	c.current(q)

	got := map[string]bool{}
	require.Eventually(t, func() bool {
		for id := range acknowledged {
			if !got[id] {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				r, err := q.Result(ctx, id)
				cancel()
				if err != nil {
					return false
				}
				require.NotNil(t, r.Response)
				got[id] = true
			}
		}
		return true
	}, 5*limit, 100*time.Millisecond)
	require.Len(t, got, 3*third)
	s, err = q.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3*third, s.Answers)
}

// submitSurely retries until the queue has the job.
func submitSurely(t *testing.T, q *jetstream.Queue, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err := q.Submit(ctx, job(id))
		return err == nil || errors.Is(err, jetstream.ErrExists)
	}, limit, time.Millisecond, id)
}

func TestSingleServerIsNamed(t *testing.T) {
	t.Parallel()
	nc, err := nats.Connect(listen(t).ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	s, err := open(t, nc, nil).Status(t.Context())
	require.NoError(t, err)
	require.False(t, s.Embedded)
	require.Len(t, s.Warnings, 1)
	require.Contains(t, s.Warnings[0], "a single server")

	s, err = open(t, embed(t), nil).Status(t.Context())
	require.NoError(t, err)
	require.True(t, s.Embedded)
	require.Empty(t, s.Warnings)
}

// A worker retries while no server is reachable: its answer is not lost.
func TestServerIsUnreachableForAWhile(t *testing.T) {
	t.Parallel()
	options := &server.Options{
		Host: "127.0.0.1", Port: freePort(t), JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	}
	c := &cluster{t: t, options: [3]*server.Options{options}}
	c.start(0)
	nc, err := nats.Connect(c.servers[0].ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, nil)
	running, gone := make(chan struct{}), make(chan struct{})
	work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		close(running)
		<-gone
		return &clichain.Response{Text: "dear"}, nil
	}), nil)
	submit(t, q, job("a"))
	<-running
	c.stop(0)
	close(gone)
	c.start(0)
	t.Cleanup(func() { c.stop(0) })
	require.Eventually(t, func() bool {
		r, err := q.Result(t.Context(), "a")
		return err == nil && r.Response.Text == "dear"
	}, limit, 50*time.Millisecond)
}
