package proc

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCapture(t *testing.T) {
	for _, test := range []struct {
		name   string
		chunks []string
		head   string
		tail   string
		text   string
	}{
		{"nothing", nil, "", "", ""},
		{"part of the head", []string{"ab"}, "ab", "", "ab"},
		{"the head", []string{"abcd"}, "abcd", "", "abcd"},
		{"some tail", []string{"abcdef"}, "abcd", "ef", "abcdef"},
		{"all of both", []string{"abc", "defgh"}, "abcd", "efgh", "abcdefgh"},
		{"one too many", []string{"abcdefghi"}, "abcd", "fghi", "abcd\n[1 bytes dropped]\nfghi"},
		{"byte by byte", strings.Split("abcdefghijk", ""), "abcd", "hijk", "abcd\n[3 bytes dropped]\nhijk"},
		{"a large chunk after small ones", []string{"abcdef", "0123456789"}, "abcd", "6789", "abcd\n[8 bytes dropped]\n6789"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := recorder{size: 4}
			for _, chunk := range test.chunks {
				r.add([]byte(chunk))
			}
			c := r.capture()
			require.Equal(t, test.head, string(c.Head))
			require.Equal(t, test.tail, string(c.Tail))
			require.Equal(t, test.text, c.Text())
			require.EqualValues(t, len(strings.Join(test.chunks, "")), c.Total)
			require.Equal(t, c.Total > 8, c.Truncated())
		})
	}
}

func TestCaptureWithRandomChunks(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		r := recorder{size: 1 + random.IntN(20)}
		var all []byte
		for range random.IntN(12) {
			chunk := make([]byte, random.IntN(30))
			for i := range chunk {
				chunk[i] = byte(random.Uint32())
			}
			all = append(all, chunk...)
			require.EqualValues(t, len(all), r.add(chunk))
		}
		c := r.capture()
		n := min(len(all), r.size)
		m := min(len(all)-n, r.size)
		require.Equal(t, string(all[:n]), string(c.Head), "seed %d", seed)
		require.Equal(t, string(all[len(all)-m:]), string(c.Tail), "seed %d", seed)
	}
}

func TestCaptureIsACopy(t *testing.T) {
	r := recorder{size: 2}
	r.add([]byte("abcd"))
	c := r.capture()
	r.add([]byte("xyz"))
	require.Equal(t, "abcd", c.Text())
}
