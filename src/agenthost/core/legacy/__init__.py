"""AHP before sessions had chats: its reducers."""
