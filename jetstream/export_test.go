package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

func stream(q *Queue) js.JetStream {
	s, err := js.New(q.store.Conn)
	if err != nil {
		panic(err)
	}
	return s
}

func objects(ctx context.Context, q *Queue) js.ObjectStore {
	objects, err := stream(q).ObjectStore(ctx, q.store.Stream("payloads"))
	if err != nil {
		panic(err)
	}
	return objects
}

// readySubject returns the subject from which a worker of the first protocol takes a job.
func readySubject(q *Queue, id string) string {
	return q.store.JobSubject(classes.Ready, store.Group{Priority: string(PriorityNormal)}, store.Key(id))
}

// Payloads counts the payloads in the object store.
func Payloads(ctx context.Context, q *Queue) int {
	list, err := objects(ctx, q).List(ctx)
	if err != nil {
		return 0
	}
	return len(list)
}

// Labels returns the subjects and headers of all messages.
func Labels(ctx context.Context, q *Queue) (lines []string) {
	for _, stream := range []js.Stream{q.store.Jobs, q.store.Results} {
		for sequence := uint64(1); ; sequence++ {
			msg, err := stream.GetMsg(ctx, sequence, js.WithGetMsgSubject("clichain."+q.cfg.Name+".>"))
			if err != nil {
				break
			}
			lines = append(lines, msg.Subject+fmt.Sprint(msg.Header))
			sequence = msg.Sequence
		}
	}
	return lines
}

// BeginRetry is the first step of Retry.
func BeginRetry(ctx context.Context, q *Queue, job Job, sequence uint64) error {
	return q.add(ctx, &envelope{Job: job, Replaces: sequence, Protocol: classes.Protocol})
}

// Leader returns the name of the server that leads the stream of jobs.
func Leader(ctx context.Context, q *Queue) string {
	info, err := q.store.Jobs.Info(ctx)
	if err != nil || info.Cluster == nil {
		return ""
	}
	return info.Cluster.Leader
}

// Current returns how many servers have the whole content of the streams of jobs and results.
func Current(ctx context.Context, q *Queue) int {
	least := 3
	for _, stream := range []js.Stream{q.store.Jobs, q.store.Results} {
		info, err := stream.Info(ctx)
		if err != nil || info.Cluster == nil || info.Cluster.Leader == "" {
			return 0
		}
		n := 1
		for _, peer := range info.Cluster.Replicas {
			if peer.Current && !peer.Offline {
				n++
			}
		}
		least = min(least, n)
	}
	return least
}

// TakeAndVanish takes a job as a worker does, begins it and gives no further sign.
func TakeAndVanish(ctx context.Context, q *Queue, job Job, worker string) error {
	if err := takeOne(q); err != nil {
		return err
	}
	if !job.mayAct() {
		return nil
	}
	return Begin(ctx, q, job, worker)
}

// VanishIsolated takes a job as an isolated worker does, and gives no further sign.
func VanishIsolated(q *Queue) error { return takeOne(q) }

// Begin marks a job as a worker does.
func Begin(ctx context.Context, q *Queue, job Job, worker string) error {
	_, err := q.store.Begin(ctx, store.Key(job.ID), store.Mark{Worker: worker, At: time.Now(), ID: worker})
	return err
}

// Marked reports whether a job has a mark.
func Marked(ctx context.Context, q *Queue, job Job) (bool, error) {
	mark, err := q.store.Begun(ctx, store.Key(job.ID))
	return mark != nil, err
}

// AnswerAndVanish takes a job, stores its result and gives no further sign.
func AnswerAndVanish(ctx context.Context, q *Queue, id string) error {
	if err := takeOne(q); err != nil {
		return err
	}
	return q.storeResult(ctx, &Result{ID: id, Response: &clichain.Response{Text: "first"}})
}

// FailAndVanish takes a job, stores its failure and gives no further sign.
func FailAndVanish(ctx context.Context, q *Queue, job Job) error {
	if err := takeOne(q); err != nil {
		return err
	}
	return StoreFailure(ctx, q, job)
}

// StoredBefore returns what a worker finds after an interrupted attempt to store a result.
func StoredBefore(ctx context.Context, q *Queue, r *Result) error {
	return (&resultWriter{q: q}).storedBefore(ctx, r)
}

// StoreAgain stores a result again, as a worker does after an attempt without a reply.
func StoreAgain(ctx context.Context, q *Queue, r Result) error { return q.storeResult(ctx, &r) }

// StoreFailure stores a failure of a job.
func StoreFailure(ctx context.Context, q *Queue, job Job) error {
	return q.storeResult(ctx, &Result{ID: job.ID, Failure: &Failure{Reason: clichain.ReasonExit}, Job: &job})
}

// takeOne waits for a job with normal priority, because the server announces a new job to its consumers a moment
// after storing it.
func takeOne(q *Queue) error {
	for _, t := range q.consumers.List() {
		if t.Priority != string(PriorityNormal) || t.Class == classes.Ready {
			continue
		}
		batch, err := t.Fetch(1)
		if err != nil {
			return err
		}
		for range batch.Messages() {
			return nil
		}
		return fmt.Errorf("no job was taken: %v", batch.Error())
	}
	return fmt.Errorf("no job was submitted")
}

// NeverInProgress keeps the workers of this queue from extending their leases.
func NeverInProgress(q *Queue) { q.consumers.AckWait = 24 * time.Hour }

// Delivered counts deliveries of jobs with normal priority.
func Delivered(ctx context.Context, q *Queue) (n uint64) {
	if q.consumers.Refresh(ctx) != nil {
		return 0
	}
	for _, t := range q.consumers.List() {
		if info, err := t.Info(ctx); err == nil && t.Priority == string(PriorityNormal) {
			n += info.Delivered.Consumer
		}
	}
	return n
}

// SubmitNonsense adds a message to the queue that is no job.
func SubmitNonsense(ctx context.Context, q *Queue) error {
	_, err := stream(q).Publish(ctx, readySubject(q, "x"), []byte("nonsense"))
	return err
}

// Stored returns a job of the queue, and its stored form.
func Stored(ctx context.Context, q *Queue, id string) (job *Job, data []byte, err error) {
	msg, err := q.store.LastJob(ctx, store.Key(id))
	if err != nil || msg == nil {
		return nil, nil, err
	}
	job = new(Job)
	data, err = q.store.Content(ctx, msg.Header, msg.Data)
	_ = json.Unmarshal(data, job) // the part that this version knows
	return job, data, err
}

// SubmitRaw adds a job to the class of a worker of the first protocol, or to its own class.
func SubmitRaw(ctx context.Context, q *Queue, id string, data []byte) error {
	return q.store.Add(ctx, store.Job{
		Group: store.Group{Priority: string(PriorityNormal)}, Class: classes.Ready, Key: store.Key(id), Data: data,
	})
}

// StoreRaw stores the result of a failure.
func StoreRaw(ctx context.Context, q *Queue, id string, data []byte) error {
	_, err := stream(q).Publish(ctx, q.store.Failed(store.Key(id)), data)
	return err
}

// Restore publishes a message that another version wrote.
func Restore(ctx context.Context, q *Queue, subject string, header map[string][]string, data string) error {
	msg := &nats.Msg{Subject: subject, Header: header, Data: []byte(data)}
	for name := range header {
		if strings.HasPrefix(name, "Nats-Expected") || name == "Nats-Rollup" {
			delete(msg.Header, name) // headers of its publication
		}
	}
	_, err := stream(q).PublishMsg(ctx, msg)
	return err
}

// ReadyForOldWorkers counts the jobs that workers of the first protocol take.
func ReadyForOldWorkers(ctx context.Context, q *Queue) (n int) {
	for _, p := range priorities {
		if info, err := q.consumers.Get(classes.Ready, store.Group{Priority: string(p)}).Info(ctx); err == nil {
			n += int(info.NumPending)
		}
	}
	return n
}

// WorkLike makes the workers of this queue run jobs up to that protocol.
func WorkLike(q *Queue, latest int) { q.protocol = latest }

// Announce reports the state of a worker.
func Announce(ctx context.Context, q *Queue, s WorkerStatus) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = q.store.Workers.Put(ctx, store.Key(s.Name), data)
	return err
}

// LatestProtocol is the version of the jobs that this package writes.
const LatestProtocol = classes.Protocol

// MaxClasses bounds the consumers of a queue. A refused job whose class has no own consumer waits for the pause.
func MaxClasses(q *Queue, most int, pause time.Duration) {
	q.consumers.Max, q.coarsePause = most, pause
}

// Consumers counts the consumers that workers take jobs from.
func Consumers(q *Queue) int { return len(q.consumers.List()) }

// NeedsOf returns what administrators of a server see of a job, before and after a worker has refused it.
func NeedsOf(job Job) (before, after string) {
	e := envelope{Job: job, Protocol: classes.Protocol}
	data, _ := json.Marshal(e.needs())
	before = string(data) + e.needs().String()
	e.Refined = true
	data, _ = json.Marshal(e.needs())
	return before, string(data) + e.needs().String()
}

// Rewrite replaces the content of a job, as a client does that ignores the rules of this package.
func Rewrite(ctx context.Context, q *Queue, id string, data []byte) error {
	msg, err := q.store.LastJob(ctx, store.Key(id))
	if err != nil {
		return err
	}
	if err := q.store.RemoveJob(ctx, msg); err != nil {
		return err
	}
	_, err = stream(q).Publish(ctx, msg.Subject, data)
	return err
}

// SubjectOf returns the subject of a job.
func SubjectOf(ctx context.Context, q *Queue, id string) (string, error) {
	msg, err := q.store.LastJob(ctx, store.Key(id))
	if err != nil || msg == nil {
		return "", err
	}
	return msg.Subject, nil
}
