"""The judge's prompt: it is handed an answer and says whether the passages support it."""

PROMPT = (
    "Question: {question}\nAnswer: {answer}\n"
    'For example, "four crowns a day" is supported by the passage on late returns.'
)
