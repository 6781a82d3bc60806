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

// Digest identifies the request of a line. It is a hash of the messages, model, schema, access and options. The zero
// value means unknown.
type Digest [8]byte

func digestOf(req *clichain.Request) (d Digest) {
	text, err := json.Marshal(clichain.Request{
		Messages: req.Messages, Model: req.Model, Schema: req.Schema, Access: req.Access, Options: req.Options,
	})
	if err == nil {
		sum := sha256.Sum256(text)
		copy(d[:], sum[:])
	}
	return d
}

// MarshalText returns the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText parses a digest in hexadecimal.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("has %d digits, not %d", len(text), hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// differs reports whether both digests are known and not equal.
func (d Digest) differs(other Digest) bool { return d != Digest{} && other != Digest{} && d != other }

// digestKey is the metadata key of the digest in a job and its result.
const digestKey = "clichain.batch.asked"

// withDigest adds a digest to the metadata of a job.
func withDigest(metadata map[string]string, d Digest) map[string]string {
	with := map[string]string{}
	maps.Copy(with, metadata)
	text, _ := d.MarshalText()
	with[digestKey] = string(text)
	return with
}

// takeDigest removes the digest from the metadata of a result and returns it.
func takeDigest(result *jetstream.Result) (d Digest) {
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
	_ = d.UnmarshalText([]byte(metadata[digestKey])) // after an error, the digest stays unknown
	return d
}
