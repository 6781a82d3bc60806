package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// digest stands for what a line asks: the messages, the model, the schema, the access and the options. The zero value
// is not known.
type digest [8]byte

func digestOf(req *clichain.Request) (d digest) {
	text, err := json.Marshal(clichain.Request{
		Messages: req.Messages, Model: req.Model, Schema: req.Schema, Access: req.Access, Options: req.Options,
	})
	if err == nil {
		sum := sha256.Sum256(text)
		copy(d[:], sum[:])
	}
	return d
}

// MarshalText writes it in hexadecimal digits.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("has %d digits, not %d", len(text), hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// differs reports whether both are known, and not the same.
func (d digest) differs(other digest) bool { return d != digest{} && other != digest{} && d != other }

// digestKey is where a job in the queue carries what it asks, so that its result says it. A record has it elsewhere.
const digestKey = "clichain.batch.asked"

// withDigest adds the digest to what the caller has its responses carry.
func withDigest(metadata map[string]string, d digest) map[string]string {
	with := map[string]string{}
	maps.Copy(with, metadata)
	text, _ := d.MarshalText()
	with[digestKey] = string(text)
	return with
}

// takeDigest takes it out of a result.
func takeDigest(result *jetstream.Result) (d digest) {
	metadata := map[string]string{}
	switch {
	case result.Response != nil:
		resp := *result.Response
		resp.Metadata = maps.Clone(resp.Metadata)
		metadata = maps.Clone(resp.Metadata)
		if delete(resp.Metadata, digestKey); len(resp.Metadata) == 0 {
			resp.Metadata = nil
		}
		result.Response = &resp
	case result.Job != nil:
		metadata = result.Job.Request.Metadata
	}
	_ = d.UnmarshalText([]byte(metadata[digestKey])) // else it is not known
	return d
}

// changed deals with a line whose id has a record that another request was asked for. It reports whether the line is to
// be asked again.
func (r *run) changed(item *item) bool {
	if !r.cfg.Changed {
		r.keepsOld(item.job.ID)
		return false
	}
	known, _, _ := r.ids.of(item.job.ID)
	r.ids.redo(item.job.ID)
	r.tally.change(func(c *Counts) {
		c.Before--
		if known.state&stateFailed != 0 {
			c.Failed--
		} else {
			c.Answered--
		}
	})
	return true
}

// keepsOld counts a record that was asked for something else than its line says.
func (r *run) keepsOld(id string) {
	r.tally.change(func(c *Counts) { c.Changed++ })
	r.notices.once("changed",
		"warning: line %q asks something else than before, and keeps its record; --changed asks again", id)
}

// resubmit replaces the result of an earlier request of the same id.
func (r *run) resubmit(ctx context.Context, job jetstream.Job, old *jetstream.Result) error {
	drop := r.store.queue.Forget
	if old.Failure != nil {
		drop = r.store.queue.Drop
	}
	return r.insist(ctx, func() error {
		if err := drop(ctx, job.ID); err != nil && !errors.Is(err, jetstream.ErrNotFound) {
			return err
		}
		return r.store.queue.Submit(ctx, job)
	})
}

// compact leaves out the records of which the output has a later one with the same id.
func (o *output) compact(superseded map[hash]int) error {
	if len(superseded) == 0 {
		return nil
	}
	left := maps.Clone(superseded)
	return o.rewrite(func(r *Record) bool {
		h := hashOf(r.ID)
		if left[h] == 0 {
			return true
		}
		left[h]--
		return false
	})
}
