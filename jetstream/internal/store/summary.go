package store

import (
	"slices"
	"time"

	"github.com/clichain/clichain"
)

// Count is the number of results of one owner that have the same backend or the same reason.
type Count struct {
	Figures     // Usage is the sum
	Results int `json:"results"`
}

// block is the count of successive results.
type block struct {
	First  uint64  `json:"first"` // the sequence of the first result
	Last   uint64  `json:"last"`
	Counts []Count `json:"counts"`
}

// blockSize bounds the results of a block. If a result is removed, its block is read again.
const blockSize = 2048

// summary is the count of all results up to a sequence. It is a cache: count proves with figures of the server that it
// is right.
type summary struct {
	Stream   time.Time `json:"stream"` // the creation of the stream that it describes
	Blocks   []block   `json:"blocks"`
	revision uint64    // of its message; zero: there is none
	read     int       // the headers that were read for it since it was loaded
}

func (b *block) results() (n int) {
	for _, c := range b.Counts {
		n += c.Results
	}
	return n
}

func (b *block) add(c Count) {
	at := slices.IndexFunc(b.Counts, func(known Count) bool {
		return known.Owner == c.Owner && known.Backend == c.Backend && known.Reason == c.Reason
	})
	if at < 0 {
		b.Counts = append(b.Counts, c)
		return
	}
	known := &b.Counts[at]
	known.Results += c.Results
	known.Usage = known.Usage.Add(c.Usage)
}

func (s *summary) results() (n int) {
	for i := range s.Blocks {
		n += s.Blocks[i].results()
	}
	return n
}

// last returns the sequence of the last counted result.
func (s *summary) last() uint64 {
	if len(s.Blocks) == 0 {
		return 0
	}
	return s.Blocks[len(s.Blocks)-1].Last
}

// add adds a result after the last one.
func (s *summary) add(sequence uint64, f Figures) {
	if n := len(s.Blocks); n == 0 || s.Blocks[n-1].results() >= blockSize {
		s.Blocks = append(s.Blocks, block{First: sequence})
	}
	b := &s.Blocks[len(s.Blocks)-1]
	b.Last = sequence
	b.add(Count{f, 1})
}

// compact joins neighbors that together have at most size results.
func (s *summary) compact(size int) {
	var blocks []block
	for _, next := range s.Blocks {
		if n := len(blocks); n > 0 && blocks[n-1].results()+next.results() <= size {
			for _, c := range next.Counts {
				blocks[n-1].add(c)
			}
			blocks[n-1].Last = next.Last
			continue
		}
		blocks = append(blocks, next)
	}
	s.Blocks = blocks
}

// counts returns the sums of all blocks.
func (s *summary) counts() []Count {
	type label struct {
		owner, backend string
		reason         clichain.Reason
	}
	var all []Count
	at := map[label]int{}
	for _, b := range s.Blocks {
		for _, c := range b.Counts {
			name := label{c.Owner, c.Backend, c.Reason}
			i, known := at[name]
			if !known {
				at[name] = len(all)
				all = append(all, c)
				continue
			}
			all[i].Results += c.Results
			all[i].Usage = all[i].Usage.Add(c.Usage)
		}
	}
	return all
}
