package request

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/clichain/clichain/openai/internal/apierror"
)

// maxImages limits the images of a request. The limit of the body is also the limit of their size.
const maxImages = 20

// imageDetail is the resolution at which a model reads an image.
var imageDetail = unsupported(`"auto"`)

// Image is an image that came as a data: URL.
type Image struct {
	Ext  string // the extension of its file, such as ".png"
	Data []byte
}

// imageExts are the extensions by media type.
var imageExts = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}

// parseImage reads a data: URL. The server fetches nothing, so it refuses other URLs.
func parseImage(at, url string) (*Image, *apierror.Error) {
	text, ok := strings.CutPrefix(url, "data:")
	head, text, comma := strings.Cut(text, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	if !ok || !comma || !encoded || imageExts[kind] == "" {
		return nil, apierror.Field(at, "unsupported_value",
			"send the image itself, as data:image/png;base64,... (or jpeg, gif, webp): nothing is fetched")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || http.DetectContentType(data) != kind {
		return nil, apierror.Field(at, "invalid_image", "it is not %s in base64", kind)
	}
	return &Image{imageExts[kind], data}, nil
}

// checkImages refuses too many images.
func checkImages(at string, images []Image) *apierror.Error {
	if len(images) <= maxImages {
		return nil
	}
	return apierror.Field(at, "unsupported_value", "%d images are more than %d", len(images), maxImages)
}
