package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// digest identifies what a line asks: the messages, the model, the schema, the access and the options. The zero value
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

// UnmarshalText reads the text that MarshalText writes.
func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("has %d digits, not %d", len(text), hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// differs reports whether both are known and not equal.
func (d digest) differs(other digest) bool { return d != digest{} && other != digest{} && d != other }

// digestKey is the metadata key under which a job in the queue, and so its result, has its digest.
const digestKey = "clichain.batch.asked"

// withDigest adds a digest to the metadata of a job.
func withDigest(metadata map[string]string, d digest) map[string]string {
	with := map[string]string{}
	maps.Copy(with, metadata)
	text, _ := d.MarshalText()
	with[digestKey] = string(text)
	return with
}

// takeDigest removes the digest from a result.
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
	_ = d.UnmarshalText([]byte(metadata[digestKey])) // without one, it stays unknown
	return d
}
