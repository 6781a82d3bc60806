package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// protocol is the version of the jobs that this package writes, and the latest that its workers run. It grows whenever a
// job or a request gets a field, so that no worker runs a job that it knows only a part of.
const protocol = 2

// firstProtocol is the version of a job that names none.
const firstProtocol = 1

func (e *envelope) protocol() int { return max(e.Protocol, firstProtocol) }

// errNewer is the error of decode for a job that only a later version can run. The job's ID, Protocol and Priority are
// read.
var errNewer = errors.New("jetstream: the job needs a worker of a later version")

// decode reads a job. What this version does not know is no reason to fail the job, and none to run a part of it.
func (e *envelope) decode(data []byte, latest int) error {
	var label struct {
		ID       string   `json:"id"`
		Protocol int      `json:"protocol"`
		Priority Priority `json:"priority"`
	}
	if err := json.Unmarshal(data, &label); err != nil || label.ID == "" {
		return fmt.Errorf("%w: it is no job: %v", errUnreadable, err)
	}
	e.ID, e.Protocol, e.Priority = label.ID, label.Protocol, label.Priority
	if e.protocol() > latest {
		return fmt.Errorf("%w: protocol %d, and this worker has %d", errNewer, e.Protocol, latest)
	}
	var all envelope
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return fmt.Errorf("%w: %v", errNewer, err)
	}
	*e = all
	return nil
}

// handOn puts a job that this worker cannot read whole where workers of a later version take it: as it came, byte for
// byte.
func (w *worker) handOn(d *delivery) error {
	d.key = key(d.ID)
	n := &needs{Protocol: max(d.protocol(), w.protocol+1)}
	class, p := n.class(), d.priority()
	if err := w.q.makeTaker(w.writing, p, class, n); err != nil {
		return err
	}
	msg := nats.NewMsg(w.q.place(class, p, d.key))
	msg.Data = d.msg.Data()
	if name := d.msg.Headers().Get(payloadHeader); name != "" {
		msg.Header.Set(payloadHeader, name)
	}
	if err := w.q.replace(w.writing, msg, d.key, d.sequence); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	return w.insist(d.msg.DoubleAck) // its payload goes with it
}
