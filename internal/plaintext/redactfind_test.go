package plaintext

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowly is a version of finder.clean that tries each secret at each byte.
func slowly(w wrap, secrets []string, text string) string {
	var out cut
	for i := 0; i < len(text); i++ {
		if skipped := w.skip(text[i:]); skipped > 0 {
			i += skipped - 1
			continue
		}
		end := 0
		for _, secret := range secrets {
			end = max(end, endOf(w, w.strip(secret), text, i))
		}
		if end > 0 {
			out.drop(text, i, end)
		}
	}
	return out.rest(text)
}

func endOf(w wrap, secret, text string, i int) int {
	for k := range len(secret) {
		if k > 0 {
			i += w.skip(text[i:])
		}
		if i == len(text) || text[i] != secret[k] {
			return 0
		}
		i++
	}
	return i
}

// The finder looks up only some heads, and finds the same secrets as a search for each secret, wherever one is broken.
func TestFinderMatchesSlowSearch(t *testing.T) {
	secrets := []string{"abcabcab", "abcabcabd", "cabbages-and-kings", `ab\nca b cab`, "aaaaaaaaab", "babababababa"}
	parts := append(strings.Split(`a b c d ab abc - \ \n \\n`, " "), "\n", "\r\n", "\n  ", " ", "\t")
	for _, secret := range secrets {
		parts = append(parts, secret, secret[:5], secret[5:], secret[3:])
	}
	for _, w := range []wrap{atBreaks, atEscapes, atSpaces} {
		f := finder{wrap: w}
		for _, secret := range secrets {
			f.add(secret)
		}
		random, found := rand.New(rand.NewPCG(1, uint64(w))), 0
		for range 5_000 {
			var text strings.Builder
			for range random.IntN(12) {
				text.WriteString(parts[random.IntN(len(parts))])
			}
			want := slowly(w, secrets, text.String())
			require.Equal(t, want, f.clean(text.String()), "%q", text.String())
			found += strings.Count(want, redaction)
		}
		require.Greater(t, found, 2_000)
	}
}

// cleanShapes checks only some bytes, and finds the same shapes as a check of each byte.
func TestShapesAtEachOffset(t *testing.T) {
	parts := strings.Split(`a e k s y é . : / ? & _ - = \n \" " @ Bear Api AIz gh`, " ")
	parts = append(parts, " ", "\n", "\xff", "user:pass@", "://user:pass@host")
	for _, head := range []string{
		"Bearer ", "bEARER ", "Basic ", "bASIC ", "api_key=", "API-Key: ", "apikey\":\"", "sk-", "pk-", "rk-", "AIza",
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "?key=", "&api_key=", "?token=", "&access_token=", "?sig=", "&signature=",
	} {
		parts = append(parts, head, looks(head, 34))
	}
	parts = append(parts, looks("eyJ", 12)+"."+looks("", 12)+"."+looks("", 4))
	random, found := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		want := shapesAtEachPlace(text.String())
		require.Equal(t, want, cleanShapes(text.String()), "%q", text.String())
		found += strings.Count(want, redaction)
	}
	require.Greater(t, found, 10_000)
}

func shapesAtEachPlace(text string) string {
	var out cut
	for i := range len(text) {
		if from, to := shapeAt(text, i); from < to && i >= out.to {
			out.drop(text, from, to)
		}
	}
	return out.rest(text)
}
