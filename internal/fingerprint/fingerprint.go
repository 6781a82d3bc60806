// Package fingerprint identifies states, such as that of a login, by a hash. Secrets may go into it and cannot be read
// from it.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/clichain/clichain/internal/localfile"
)

// Hash collects what makes up a state. Make it with [New].
type Hash struct{ sum hash.Hash }

// New returns an empty Hash.
func New() Hash { return Hash{sha256.New()} }

// Add adds texts. Two lists of texts have the same hash only if they are equal.
func (h Hash) Add(texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(h.sum, "%d:%s", len(text), text) // a hash never fails
	}
}

// AddFile adds the path of a file and the time of its last change, unless the file does not exist.
func (h Hash) AddFile(path string) {
	if stamp, err := localfile.StampOf(path); err == nil {
		h.Add(path, fmt.Sprint(stamp))
	}
}

// Short is the fingerprint in 16 hexadecimal digits.
func (h Hash) Short() string { return hex.EncodeToString(h.sum.Sum(nil)[:8]) }

// Long is the fingerprint in 64 hexadecimal digits.
func (h Hash) Long() string { return hex.EncodeToString(h.sum.Sum(nil)) }
