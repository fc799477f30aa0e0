"""AHP before sessions had chats: its reducers, and the translation to today's protocol and back."""
