"""What words mean in letters of trade: their kinds, their turns of speech, and the weights learned for them."""
