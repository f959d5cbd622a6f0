package web

import (
	"context"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

func write(ctx context.Context, content *goquery.Selection, format Format) (string, error) {
	switch format {
	case Text:
		return writeText(content.Nodes[0]), nil
	case HTML:
		inner, err := content.Html()
		if err != nil {
			return "", &Error{Code: codeIO, Message: "writing the page as HTML failed: " + err.Error(), Err: err}
		}
		return strings.TrimSpace(inner) + "\n", nil
	}
	return writeMarkdown(ctx, content.Nodes[0])
}

// writeMarkdown pads tables minimally: aligned columns only cost tokens.
func writeMarkdown(ctx context.Context, root *html.Node) (string, error) {
	settleTables(root)
	protect(root)
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithHorizontalRule("---"), commonmark.WithListEndComment(false)),
		table.NewTablePlugin(
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
			table.WithHeaderPromotion(true),
			table.WithSkipEmptyRows(true),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
		),
	))
	conv.Register.Renderer(func(c converter.Context, _ converter.Writer, _ *html.Node) converter.RenderStatus {
		if c.Err() != nil {
			return converter.RenderSuccess // stops rendering after an abort
		}
		return converter.RenderTryNext
	}, converter.PriorityEarly)
	out, err := conv.ConvertNode(root, converter.WithContext(ctx))
	if ctx.Err() != nil {
		return "", explain(ctx, "the page", ctx.Err())
	}
	if err != nil {
		return "", &Error{Code: codeIO, Message: "writing the page as Markdown failed; use format text: " + err.Error(), Err: err}
	}
	return unprotect.Replace(strings.TrimSpace(string(out))) + "\n", nil
}
